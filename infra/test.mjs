// `npm test`: from a fresh clone to a verdict. Installs and builds what is missing or stale, then runs the tiers that need no
// container engine, the quick one first. A tier that fails does not hide what the next one would say.
//
//   --whole    with the counts and lengths that are promised for the nights, not with those that every submission can afford
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { ensureInstalled, root, run } from './ensure-installed.mjs';

await ensureInstalled(import.meta.url);

const timed = async (name, command, args) => {
  const started = performance.now();
  const code = await run(command, args, { env });
  return { name, code, seconds: (performance.now() - started) / 1000 };
};

const isWhole = process.argv.includes('--whole');
// A tier that never ends would hide what it found: jest waits for whatever a test left open.
const TIER_LIMIT_SECONDS = isWhole ? 3_600 : 900;
const env = isWhole ? { ROLLCALL_TESTS: 'whole' } : {};
// A whole load leaves no room for another one.
const argsOf = { faults: [`--maxWorkers=${isWhole ? 1 : 2}`] };

/** Programs of the system that tests use, by their Debian packages. */
const SYSTEM_TOOLS = {
  chromium: 'chromium',
  'nats-server': 'nats-server',
  promtool: 'prometheus',
  ss: 'iproute2',
  ssh: 'openssh-client',
  sshd: 'openssh-server',
  strace: 'strace',
};

/** Installs what is missing before any test's limit runs. Where that does not work, the test that needs it says so (`requireSystemTool`). */
const installSystemTools = async () => {
  const isThere = (program) => spawnSync('sh', ['-c', `PATH="$PATH:/usr/sbin" command -v ${program}`]).status === 0;
  const missing = Object.entries(SYSTEM_TOOLS).flatMap(([program, name]) => (isThere(program) ? [] : [name]));
  if (missing.length === 0 || process.getuid?.() !== 0) return;
  const install = `apt-get update -qq && apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=120 ${missing.join(' ')}`;
  await run('sh', ['-c', install], { env: { DEBIAN_FRONTEND: 'noninteractive' } });
};

// Results of an earlier run would prove requirements that this one did not.
rmSync(join(root, '.test-results'), { recursive: true, force: true });

await installSystemTools();
const results = [await timed('build', 'node', ['infra/build/build.mjs', '--if-stale'])];
if (results[0].code === 0)
  // Files take turns two by two, but for the faults that need the machine for themselves: those that fill it, or judge waits of moments.
  for (const tier of ['pure', 'int', 'e2e', 'faults', 'alone'])
    results.push(
      await timed(tier, 'timeout', [
        '--kill-after=20',
        `${TIER_LIMIT_SECONDS}`,
        'npm',
        'run',
        '--silent',
        `test:${tier}`,
        '--',
        ...(argsOf[tier] ?? []),
      ]),
    );

const TIMED_OUT = 124;
for (const { name, code, seconds } of results) {
  const words = `${code === 0 ? 'passed' : 'FAILED'}  ${name.padEnd(6)} ${seconds.toFixed(1).padStart(6)} s`;
  process.stdout.write(`${words}${code === TIMED_OUT ? '  did not end by itself: a test left something open' : ''}\n`);
}
process.exitCode = results.every(({ code }) => code === 0) ? 0 : 1;
