import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

export default () => {
  const cluster = process.env.ROLLCALL_TEST_CLUSTER;
  if (!cluster) return;
  delete process.env.ROLLCALL_TEST_CLUSTER;
  const { directory } = JSON.parse(cluster);
  if (!existsSync(join(directory, 'owned'))) return;
  spawnSync(process.execPath, [join(import.meta.dirname, 'test-cluster.mjs'), 'down', directory], { stdio: 'inherit' });
};
