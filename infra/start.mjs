// `npm start [-- --data DIR …]`: a whole plane with one real agent, from a fresh checkout on. `npm start -- --help` lists the options.
import { join } from 'node:path';
import { ensureInstalled, root, run } from './ensure-installed.mjs';

await ensureInstalled(import.meta.url);
const built = await run('node', [join(root, 'infra/build/build.mjs'), '--if-stale']);
if (built !== 0) process.exit(built);
process.exit(
  await run('node', ['--enable-source-maps', join(root, 'dist/apps/standalone/main.js'), ...process.argv.slice(2)]),
);
