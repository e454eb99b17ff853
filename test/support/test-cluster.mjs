// `up DIRECTORY PORT` starts a cluster with a migrated template database and prints how to reach it; `down DIRECTORY` removes it.
// A process of its own: jest's global setup runs outside the module transform, and this needs the TypeScript of two libraries.
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';

const root = join(import.meta.dirname, '../..');
const [verb, directory, port] = process.argv.slice(2);

// Inside the checkout, so that npm packages are found from there.
const bundle = join(root, 'node_modules', '.cache', 'rollcall', `test-cluster-${process.pid}.mjs`);
await build({
  stdin: {
    contents: `export { EmbeddedCluster } from '@rollcall/embedded-postgres'; export { migrate } from '@rollcall/migrations';`,
    resolveDir: root,
    loader: 'ts',
  },
  outfile: bundle,
  bundle: true,
  platform: 'node',
  format: 'esm',
  conditions: ['source'],
  external: ['pg', 'pg-boss', 'kysely', 'kysely/migration', '@embedded-postgres/*'],
  logLevel: 'error',
});
const { EmbeddedCluster, migrate } = await import(bundle);
rmSync(bundle);

if (verb === 'up') {
  const cluster = await EmbeddedCluster.open({
    directory,
    port: Number(port),
    settings: {
      max_connections: '300',
      shared_buffers: '128MB',
      wal_level: 'replica',
      max_wal_size: '2GB',
      // Nobody cuts the power of this one. Tests that end a server end one of their own, which syncs as in earnest.
      fsync: 'off',
      full_page_writes: 'off',
    },
  });
  await cluster.ensureDatabase('template_rollcall');
  await migrate({ connectionString: cluster.url('template_rollcall'), directory: join(root, 'infra/migrations') });
  await cluster.query(`alter role rollcall_app login password 'rollcall_app'`);
  await cluster.query('alter database template_rollcall with is_template true allow_connections false');
  process.stdout.write(`${JSON.stringify({ directory, port: Number(port), url: cluster.url() })}\n`);
} else if (verb === 'down') {
  if (!directory.startsWith(tmpdir())) throw new Error(`${directory} is not a test cluster`);
  await EmbeddedCluster.stopAt(directory);
  rmSync(directory, { recursive: true, force: true });
}
