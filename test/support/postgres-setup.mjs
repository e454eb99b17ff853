// One cluster and one migrated template database per jest run; each test file clones the template (0.2 s).
import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

const freePort = () =>
  new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });

export default async () => {
  if (process.env.ROLLCALL_TEST_CLUSTER) return;
  const directory = mkdtempSync(join(tmpdir(), 'rollcall-test-'));
  const port = await freePort();
  const script = join(root, 'test/support/test-cluster.mjs');
  const started = spawnSync(process.execPath, [script, 'up', directory, String(port)], { encoding: 'utf8', cwd: root });
  if (started.status !== 0) throw new Error(`The test cluster did not start:\n${started.stdout}${started.stderr}`);
  writeFileSync(join(directory, 'owned'), '');
  process.env.ROLLCALL_TEST_CLUSTER = started.stdout.trim().split('\n').at(-1);
};
