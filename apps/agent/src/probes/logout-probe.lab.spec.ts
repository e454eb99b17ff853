import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { GenericContainer, Wait, type StartedTestContainer } from 'testcontainers';
import { eventually } from '../../../../test/support/processes.js';
import type { AgentStatus } from '../daemon/agent-status.js';

const exec = promisify(execFile);
const root = resolve(import.meta.dirname, '../../../..');

/** As the service of an account would be installed. */
const UNIT = `[Service]
Environment=ROLLCALL_AGENT_PROBE_INTERVAL_MS=200
ExecStart=/usr/local/bin/node /usr/local/bin/rollcall-agent run
`;

let scratch: string;
let machine: StartedTestContainer;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'logout-lab-'));
  const agent = join(scratch, 'rollcall-agent.mjs');
  // A process of its own: esbuild keeps a child that a test runner would have to wait for.
  const build = `import { build } from ${JSON.stringify(join(root, 'apps/agent/build.mjs'))}; await build(${JSON.stringify(agent)});`;
  await exec(process.execPath, ['--input-type=module', '-e', build]);
  const image = await GenericContainer.fromDockerfile(join(root, 'test/lab/systemd-machine')).build(
    'rollcall-lab/systemd-machine',
    { deleteOnExit: false },
  );
  machine = await image
    .withPrivilegedMode()
    .withCopyFilesToContainer([{ source: agent, target: '/usr/local/bin/rollcall-agent', mode: 0o755 }])
    .withCopyContentToContainer([{ content: UNIT, target: '/etc/systemd/user/rollcall-agent.service' }])
    .withWaitStrategy(Wait.forSuccessfulCommand('systemctl is-system-running | grep -E "running|degraded"'))
    .start();
}, 600_000);

afterAll(async () => {
  await machine?.stop();
  await rm(scratch, { recursive: true, force: true });
}, 60_000);

/** Runs a command line in the machine, as root. */
const sh = async (line: string): Promise<string> => {
  const { exitCode, output } = await machine.exec(['sh', '-c', line]);
  if (exitCode !== 0) throw new Error(`${line}: exit code ${exitCode}\n${output}`);
  return output.trim();
};
const asAda = (line: string) => sh(`runuser -u ada -- env XDG_RUNTIME_DIR=/run/user/$(id -u ada) ${line}`);

/** The codes that the agent of a state directory shows, with those that it could not look for; null: not running, or not probed yet. */
const findings = async (...options: readonly string[]) => {
  const { output } = await machine.exec(
    ['runuser', '-u', 'ada', '--', 'rollcall-agent', 'status', '--json', ...options],
    { workingDir: '/home/ada', env: { HOME: '/home/ada' } },
  );
  const { running, readiness } = JSON.parse(output) as AgentStatus;
  if (!running || readiness === null) return null;
  const [blockers, notProbed] = [readiness.blockers, readiness.notProbed].map((codes) => codes.map(({ code }) => code));
  // No check was ever answered here.
  expect(notProbed).toEqual(['clock-wrong']);
  return blockers ?? [];
};
const expectShown = (what: string, codes: readonly string[], ...options: readonly string[]) =>
  eventually(what, async () => JSON.stringify(await findings(...options)) === JSON.stringify(codes), 60_000);

const logIn = (name: string, command: string) =>
  sh(`systemd-run --quiet --unit=${name} -p User=ada -p PAMName=login ${command}`);

describe('the agent as a service of an account', () => {
  it('says that it stops at logout until the account lingers, and does what it says (O14)', async () => {
    await logIn('login-1', 'sleep infinity');
    await eventually(
      'the service manager of the account is there',
      () =>
        asAda('systemctl --user is-active default.target').then(
          () => true,
          () => false,
        ),
      60_000,
    );
    await asAda('systemctl --user start rollcall-agent');
    await expectShown('it is found that the agent stops at logout', ['stops-at-logout']);

    await sh('systemctl stop login-1');
    await eventually('the logout has ended the agent', async () => (await findings()) === null, 60_000);

    await logIn('login-2', 'sleep infinity');
    await eventually(
      'the service manager of the account is back',
      () =>
        asAda('systemctl --user start rollcall-agent').then(
          () => true,
          () => false,
        ),
      60_000,
    );
    await expectShown('it is found again', ['stops-at-logout']);
    await sh('loginctl enable-linger ada');
    await expectShown('an account that lingers takes it away', []);
    await sh('loginctl disable-linger ada');
    await expectShown('one that does not any more brings it back', ['stops-at-logout']);
    await sh('loginctl enable-linger ada');

    await sh('systemctl stop login-2');
    await eventually(
      'nobody is logged in',
      async () => !(await sh('loginctl list-sessions --no-legend')).includes('ada'),
      60_000,
    );
    await expectShown('the agent has outlived the logout', []);
  }, 300_000);

  it('says so in a login session, and has nothing to say as a service of the system (O14)', async () => {
    const run = (place: string) =>
      `--setenv=ROLLCALL_AGENT_PROBE_INTERVAL_MS=200 rollcall-agent run --state-dir /home/ada/${place}`;
    await logIn('login-3', run('session'));
    await expectShown('it is found in the session', ['stops-at-logout'], '--state-dir', '/home/ada/session');
    await sh(`systemd-run --quiet --unit=system-agent -p User=ada ${run('system')}`);
    await expectShown('there is nothing to find', [], '--state-dir', '/home/ada/system');
    await sh('systemctl stop login-3 system-agent');
  }, 120_000);
});
