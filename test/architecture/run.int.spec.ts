import { join } from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { Processes } from '../support/processes.js';

const processes = new Processes();
afterAll(() => processes.close());

const bootstrap = join(import.meta.dirname, '../../infra/ensure-installed.mjs');
const wrap = (child: string) => [
  '--input-type=module',
  '-e',
  `import { run } from ${JSON.stringify(bootstrap)}; process.exit(await run(process.execPath, ['-e', ${JSON.stringify(child)}]))`,
];

it('passes a signal on once, however often it arrives at the same time', async () => {
  const child = `
    let count = 0;
    process.on('SIGINT', () => { count += 1; console.log('interrupted ' + count); });
    process.on('SIGTERM', () => process.exit(40 + count));
    console.log('up');
    setInterval(() => {}, 1e9);`;
  const wrapper = await processes.start('wrapper', process.execPath, wrap(child), { ready: /up/ });
  wrapper.signal('SIGINT');
  await wrapper.waitFor(/interrupted 1/);
  wrapper.signal('SIGINT');
  expect(await wrapper.stop('SIGTERM')).toEqual({ code: 41, signal: null });
});

it('ends with the exit code of the program, and with 128 + n after signal n', async () => {
  expect(await processes.run('exit', process.execPath, wrap('process.exit(7)'))).toMatchObject({ code: 7 });
  expect(await processes.run('kill', process.execPath, wrap("process.kill(process.pid, 'SIGKILL')"))).toMatchObject({
    code: 137,
  });
});
