import { setTimeout as delay } from 'node:timers/promises';
import { EXIT } from './failure.js';
import { run } from './run.js';

const interruption = new AbortController();
// A second one ends the process at once, which is safe because every file is replaced whole; by `exit`, so that what a command has to remove in
// any case is removed. A terminal that is closed says SIGHUP.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => {
    if (interruption.signal.aborted) process.exit(EXIT.interrupted);
    interruption.abort();
  });
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
