// `npm run check`: all that a machine can say about the source without running the product. Every step runs, so that one round
// of repairs is enough.
//
//   --after-tests    leaves out what the pure tier has said already
import { ensureInstalled, run } from './ensure-installed.mjs';

await ensureInstalled(import.meta.url);

const STEPS = [
  ['types', 'npm', ['run', '--silent', 'types']],
  ['lint', 'npm', ['run', '--silent', 'lint']],
  ['format', 'npm', ['run', '--silent', 'format:check']],
  ['architecture', 'npm', ['run', '--silent', 'test:pure', '--', '--testPathPatterns', 'test/architecture']],
].filter(([name]) => !(name === 'architecture' && process.argv.includes('--after-tests')));

/** Runs a step, and keeps its words together. */
const outcomeOf = async ([name, command, args]) => {
  const words = [];
  const closed = Promise.withResolvers();
  const code = await run(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    onSpawn: (child) => {
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => words.push(chunk));
      // Its last words may arrive after its end.
      child.once('close', closed.resolve);
    },
  });
  await closed.promise;
  process.stdout.write(Buffer.concat(words));
  return code === 0 ? [] : [name];
};

/** Two at a time, for the two cores of the smallest machine that we work on. */
const queue = [...STEPS];
const worker = async () => {
  const failed = [];
  for (let next = queue.shift(); next; next = queue.shift()) failed.push(...(await outcomeOf(next)));
  return failed;
};

const failed = (await Promise.all([worker(), worker()])).flat();
process.stdout.write(failed.length === 0 ? 'check: all good\n' : `check: ${failed.join(', ')} failed\n`);
process.exitCode = failed.length === 0 ? 0 : 1;
