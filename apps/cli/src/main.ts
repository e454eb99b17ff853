import { setTimeout as delay } from 'node:timers/promises';
import { run } from './run.js';

const interruption = new AbortController();
// Once each: a second Ctrl-C ends the process at once, which is safe because every file is replaced whole.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interruption.abort());
// `rollcall machines | head` is not a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

process.exitCode = await run(process.argv.slice(2), {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  signal: interruption.signal,
  pause: (milliseconds, signal) => delay(milliseconds, undefined, { signal }),
});
