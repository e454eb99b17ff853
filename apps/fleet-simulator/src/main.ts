import { run } from './run.js';

const [stop, abandon] = [new AbortController(), new AbortController()];
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => (stop.signal.aborted ? abandon : stop).abort());

process.exitCode = await run(process.argv.slice(2), {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  stdin: process.stdin,
  stop: stop.signal,
  abandon: abandon.signal,
});
