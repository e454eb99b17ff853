import { createServer } from 'node:net';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually, freePort, openHandles, Processes } from './processes.js';

const node = process.execPath;
const script = (source: string) => ['-e', source] as const;

describe('the processes of a test', () => {
  let processes: Processes;
  beforeEach(() => {
    processes = new Processes();
  });
  afterEach(() => processes.close());

  it('start when they say so, and end when they are asked to', async () => {
    const running = await processes.start(
      'greeter',
      node,
      script("console.log('ready 7'); setInterval(() => {}, 1e9)"),
      {
        ready: /ready \d/,
      },
    );
    expect(running.output()).toBe('ready 7\n');
    expect(await running.stop()).toEqual({ code: null, signal: 'SIGTERM' });
  });

  it('start when they answer, and get nothing of the environment of the test', async () => {
    const port = await freePort();
    process.env['SECRET_OF_THE_TEST'] = 'x';
    const source = `require('http').createServer((q, a) => a.end(String(process.env.SECRET_OF_THE_TEST))).listen(${port}, '127.0.0.1')`;
    await processes.start('server', node, script(source), {
      ready: async () => (await fetch(`http://127.0.0.1:${port}`)).ok,
    });
    expect(await (await fetch(`http://127.0.0.1:${port}`, { headers: { connection: 'close' } })).text()).toBe(
      'undefined',
    );
  });

  it('run to their end with the given input', async () => {
    const result = await processes.run(
      'cat',
      node,
      script('process.stdin.pipe(process.stdout); process.exitCode = 3'),
      { input: 'hello' },
    );
    expect(result).toEqual({ code: 3, signal: null, output: 'hello', stdout: 'hello' });
  });

  it('fail with their output when they end before they are ready', async () => {
    const source = script("console.error('no database'); process.exit(1)");
    await expect(processes.start('broken', node, source, { ready: /listening/ })).rejects.toThrow(
      /exit code 1.*no database/s,
    );
    await expect(processes.start('broken', node, source, { ready: () => Promise.resolve(false) })).rejects.toThrow(
      /no database/,
    );
    await expect(processes.start('nobody', '/no/such/program', [])).rejects.toThrow(/ENOENT/);
  });

  it('fail the test when they ignore a stop', async () => {
    const source = script("process.on('SIGTERM', () => {}); console.log('up'); setInterval(() => {}, 1e9)");
    const running = await processes.start('stubborn', node, source, { ready: /up/ });
    await expect(running.stop('SIGTERM', 50)).rejects.toThrow(
      /stubborn did not end within 50 ms after SIGTERM and was killed/,
    );
  });

  it('fail the test when they leave another process behind', async () => {
    const source = script(
      "require('child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e9)'], { detached: true, stdio: 'ignore' }).unref()",
    );
    await processes.run('parent', node, source);
    await expect(processes.close()).rejects.toThrow(/left behind: \d+ .*setInterval/);
    await eventually('the survivor is gone', () =>
      processes.close().then(
        () => true,
        () => false,
      ),
    );
  });
});

it('names the sockets that a test left open', async () => {
  const leaks = openHandles();
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  expect(await leaks()).toEqual(['1 TCPServerWrap']);
  server.close();
  await once(server, 'close');
  expect(await leaks()).toEqual([]);
});
