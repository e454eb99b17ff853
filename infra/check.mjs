// `npm run check`: all that a machine can say about the source without running the product. Every step runs, so that one round
// of repairs is enough.
import { ensureInstalled, run } from './ensure-installed.mjs';

await ensureInstalled(import.meta.url);

const STEPS = [
  ['types', 'npm', ['run', '--silent', 'types']],
  ['lint', 'npm', ['run', '--silent', 'lint']],
  ['format', 'npm', ['run', '--silent', 'format:check']],
  ['architecture', 'npm', ['run', '--silent', 'test:pure', '--', '--testPathPatterns', 'test/architecture']],
];

const failed = [];
for (const [name, command, args] of STEPS) if ((await run(command, args)) !== 0) failed.push(name);
process.stdout.write(failed.length === 0 ? 'check: all good\n' : `check: ${failed.join(', ')} failed\n`);
process.exitCode = failed.length === 0 ? 0 : 1;
