import { setTimeout as delay } from 'node:timers/promises';
import { run } from './run.js';

const interruption = new AbortController();
// Once each: a second Ctrl-C ends the process at once, which is safe because every file is replaced whole.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interruption.abort());
for (const stream of [process.stdout, process.stderr])
  stream.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    // `rollcall machines | head` is not a failure.
    if (code === 'EPIPE') process.exit(0);
    if (stream === process.stdout) process.stderr.write(`The answer cannot be written: ${message}.\n`);
    process.exit(1);
  });

process.exitCode = await run(process.argv.slice(2), {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  signal: interruption.signal,
  pause: (milliseconds, signal) => delay(milliseconds, undefined, { signal }),
});
