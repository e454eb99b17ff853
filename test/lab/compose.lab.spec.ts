import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Fleet, type FleetReport } from '@rollcall/fleet-simulator';
import type { MachineList, MachineView } from '@rollcall/wire';
import { getContainerRuntimeClient, type ContainerRuntimeClient } from 'testcontainers';
import { requireSystemTool } from '../support/system-tool.js';
import { eventually, freePort, Processes } from '../support/processes.js';

const root = resolve(import.meta.dirname, '../..');
const node = process.execPath;
const project = `rollcall-lab-${process.pid}`;
const MACHINES = 8;
const RATE = 20;
/** How long a plane may take to be itself again after a fault, on a computer that has other things to do. */
const RECOVERY_MS = 60_000;

const processes = new Processes();
const fleet = new Fleet({ eventEvery: 10 });
const answered: string[] = [];
const over = new AbortController();
let running: Promise<FleetReport>;
let engine: ContainerRuntimeClient;
let scratch: string;
let environment: Record<string, string>;
let composeProgram: readonly string[];
let id: string;

/** Runs a command of compose on the plane as it is shipped, with what this test adds. */
const compose = async (...args: readonly string[]): Promise<string> => {
  const [program = '', ...before] = composeProgram;
  const files = ['docker-compose.yml', 'test/lab/compose.lab.yml'].flatMap((file) => ['-f', file]);
  const all = [...before, '--project-name', project, ...files, ...args];
  const { code, output, stdout } = await processes.run(`compose ${args[0]}`, program, all, {
    cwd: root,
    env: environment,
  });
  if (code !== 0) throw new Error(`compose ${args.join(' ')}: exit code ${code}\n${output}`);
  return stdout;
};
/** The containers of a service, in their order. */
const containers = async (service: string) => {
  const label = [`com.docker.compose.project=${project}`, `com.docker.compose.service=${service}`];
  const found = await engine.container.dockerode.listContainers({ all: true, filters: { label } });
  return found
    .toSorted((a, b) => String(a.Names[0]).localeCompare(String(b.Names[0])))
    .map(({ Id }) => engine.container.getById(Id));
};
const container = async (service: string, index = 0) => {
  const found = (await containers(service))[index];
  if (!found) throw new Error(`There is no container ${index} of ${service}`);
  return found;
};
/** Runs a command in a container, and answers what it wrote. */
const inside = async (service: string, index: number, ...command: readonly string[]): Promise<string> => {
  const { exitCode, output } = await engine.container.exec(await container(service, index), [...command]);
  if (exitCode !== 0) throw new Error(`${command.join(' ')} in ${service}: exit code ${exitCode}\n${output}`);
  return output.trim();
};
const sql = (query: string) =>
  inside('postgres', 0, 'psql', '-h', '/var/run/postgresql', '-U', 'rollcall', '-Atc', query);
const secret = (service: string, file: string) => inside(service, 0, 'cat', `/secrets/${file}`);

/** Ends one container at once, for the time of an observation. */
const without = async (service: string, index: number, observe: () => Promise<void>): Promise<void> => {
  const victim = await container(service, index);
  await victim.kill({ signal: 'SIGKILL' });
  await observe();
  await victim.start();
};
const isReadyScript = 'infra/containers/rollcall/is-ready.mjs';
const isReady = (service: string, index: number, url: string) =>
  inside(service, index, 'node', isReadyScript, url).then(() => true);
/** What a projector says of its way to NATS; `lag` is told by the one that publishes. */
const feedOfProjector = async (index: number) => {
  const script = `fetch('http://127.0.0.1:8445/readyz').then(async (answer) => console.log(await answer.text()))`;
  const said = await inside('projector', index, 'node', '-e', script);
  return (JSON.parse(said) as { feed: { connected: boolean; lag: string | null } }).feed;
};
const becomesReady = (service: string, index: number, url: string) =>
  eventually(`${service} ${index + 1} is ready`, () => isReady(service, index, url), RECOVERY_MS);

const cli = (...args: readonly string[]) =>
  processes.run('rollcall', node, [join(root, 'dist/apps/cli/rollcall.mjs'), ...args], {
    env: { ROLLCALL_CONFIG_DIR: join(scratch, 'cli'), NO_COLOR: '1' },
  });
const agentProgram = join(root, 'dist/apps/agent/rollcall-agent.mjs');
const agentOptions = ['--state-dir', 'agent'];
const agentEnvironment = { ROLLCALL_AGENT_INTERVAL_FLOOR_MS: '300' };
const issueToken = async (): Promise<string> => {
  const { code, stdout, output } = await cli('token', 'issue');
  if (code !== 0) throw new Error(output);
  return stdout.trim();
};
const machines = async (): Promise<readonly MachineView[]> => {
  const { code, stdout, output } = await cli('machines', '--json');
  if (code !== 0) throw new Error(output);
  return (JSON.parse(stdout) as MachineList).machines;
};

/** What Prometheus answers. */
const prometheus = async (path: string): Promise<unknown> => {
  const answer = await fetch(`http://localhost:${environment['ROLLCALL_PROMETHEUS_PORT']}/api/v1/${path}`);
  return answer.json();
};
type Vector = { data: { result: { metric: { job: string }; value: [number, string] }[] } };
const query = async (what: string) =>
  ((await prometheus(`query?query=${encodeURIComponent(what)}`)) as Vector).data.result;
const instancesUp = async (): Promise<Record<string, number>> =>
  Object.fromEntries((await query('sum by (job) (up)')).map(({ metric, value }) => [metric.job, Number(value[1])]));
const accepted = async (): Promise<number> =>
  Number((await query('sum(rollcall_checks_total{outcome="accepted"})'))[0]?.value[1] ?? 0);

/** Resolves when the machines go on checking in: simulated ones, and the one with the real agent. */
const expectChecksToGoOn = async (): Promise<void> => {
  const [count, revision] = [answered.length, Number(await revisionOfAgent())];
  await eventually('checks are answered', () => Promise.resolve(answered.length >= count + 2 * RATE), RECOVERY_MS);
  await eventually(
    'the checks of the agent are recorded',
    async () => Number(await revisionOfAgent()) >= revision + 3,
    RECOVERY_MS,
  );
};
const revisionOfAgent = () => sql(`select revision from stream_head where stream = 'machine-${id}'`);
/** Resolves when people are shown what is recorded now. */
const expectReadModelsToCatchUp = async (): Promise<void> => {
  const newest = await sql('select max(number) from batch');
  await eventually(
    'the read models have caught up',
    async () => (await sql(`select min(checkpoint) >= ${newest} from read_model`)) === 't',
    RECOVERY_MS,
  );
};

/** Authorities that this computer trusts beyond those of its distribution: where it has any, npm in a build needs them too. */
const ownAuthorities = async (): Promise<string> => {
  const directory = '/usr/local/share/ca-certificates';
  const names = await readdir(directory).catch(() => []);
  const files = names.filter((name) => name.endsWith('.crt')).map((name) => readFile(join(directory, name), 'utf8'));
  return (await Promise.all(files)).join('\n');
};

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'compose-lab-'));
  engine = await getContainerRuntimeClient();
  const { DOCKER_HOST, CONTAINERS_CONF } = process.env;
  environment = {
    ...(DOCKER_HOST ? { DOCKER_HOST } : {}),
    ...(CONTAINERS_CONF ? { CONTAINERS_CONF } : {}),
    ROLLCALL_BUILD_CA: await ownAuthorities(),
    ROLLCALL_MACHINE_PORT: String(await freePort()),
    ROLLCALL_OPERATOR_PORT: String(await freePort()),
    ROLLCALL_POSTGRES_PORT: String(await freePort()),
    ROLLCALL_PROMETHEUS_PORT: String(await freePort()),
  };
  const plugin = await processes.run('docker', 'docker', ['compose', 'version']).catch(() => null);
  if (plugin?.code !== 0) await requireSystemTool('docker-compose');
  composeProgram = plugin?.code === 0 ? ['docker', 'compose'] : ['docker-compose'];

  await compose('build', 'secrets', 'balancer', 'prometheus');
  await compose('up', '--detach');
  await becomesReady('operator-api', 0, 'https://127.0.0.1:8444/readyz');
  await becomesReady('machine-api', 0, 'https://127.0.0.1:8443/readyz');
  await becomesReady('machine-api', 1, 'https://127.0.0.1:8443/readyz');
  const link = (await compose('exec', '-T', 'operator-api', 'rollcall-setup', 'sign-in-link')).trim();
  expect(await cli('login', link)).toMatchObject({ code: 0, output: expect.stringContaining('Signed in') });
}, 600_000);

afterAll(async () => {
  over.abort();
  await running?.catch(() => undefined);
  await fleet[Symbol.asyncDispose]();
  try {
    if (composeProgram) await compose('down', '--volumes', '--timeout', '5');
  } finally {
    await processes.close();
    await rm(scratch, { recursive: true, force: true });
  }
}, 120_000);

describe('a plane in containers', () => {
  it('admits a machine through the balancer, and shows it present (N3, O22)', async () => {
    const token = await issueToken();
    const enrolled = await processes.run('rollcall-agent enrol', node, [agentProgram, 'enrol', ...agentOptions], {
      cwd: scratch,
      env: agentEnvironment,
      input: token,
    });
    expect(enrolled).toMatchObject({ code: 0 });
    await processes.start('rollcall-agent run', node, [agentProgram, 'run', ...agentOptions], {
      cwd: scratch,
      env: agentEnvironment,
      ready: /is running, process/,
    });
    await eventually(
      'the machine is present',
      async () => {
        const [one] = await machines();
        id = one?.id ?? '';
        return one?.presence === 'present';
      },
      RECOVERY_MS,
    );
    // From now on it has company, which says what it was answered.
    await fleet.enrol(MACHINES, issueToken, AbortSignal.timeout(RECOVERY_MS));
    running = fleet.run({ rate: RATE, signal: over.signal, onAccepted: ({ checkId }) => void answered.push(checkId) });
  }, 120_000);

  it('tells no container a secret by its environment or command', async () => {
    const secrets = await Promise.all([
      secret('machine-api', 'chain/chain.key'),
      secret('operator-api', 'database-app/password'),
      secret('postgres', 'database-owner/password'),
      secret('projector', 'feed/relay.credentials').then((line) => line.replace('relay:', '')),
    ]);
    expect(secrets.map((text) => text.length)).toEqual([43, 43, 43, 43]);
    const label = [`com.docker.compose.project=${project}`];
    const all = await engine.container.dockerode.listContainers({ all: true, filters: { label } });
    expect(all).toHaveLength(11);
    for (const { Id } of all) {
      const told = JSON.stringify(await engine.container.getById(Id).inspect());
      expect(secrets.filter((text) => told.includes(text))).toEqual([]);
    }
  }, 60_000);

  it('is scraped, every instance of it, with the alert rules of the repository', async () => {
    const everyInstance = { 'machine-api': 2, 'operator-api': 1, projector: 2 };
    await eventually(
      'Prometheus reaches every instance',
      async () => isDeepStrictEqual(await instancesUp(), everyInstance),
      RECOVERY_MS,
    );
    const { data } = (await prometheus('rules')) as {
      data: { groups: { rules: { health: string; name: string }[] }[] };
    };
    const rules = data.groups.flatMap((group) => group.rules);
    expect(rules.map(({ name }) => name)).toContain('RollcallNothingRecorded');
    await eventually('a check was counted', async () => (await accepted()) > 0, RECOVERY_MS);
  }, 120_000);

  it('is served by one machine API while the other is dead, and by that one once it is back (U9)', async () => {
    const url = 'https://127.0.0.1:8443/readyz';
    for (const index of [0, 1]) {
      await without('machine-api', index, expectChecksToGoOn);
      await becomesReady('machine-api', index, url);
    }
    await expectReadModelsToCatchUp();
  }, 240_000);

  it('has its read models kept up by one projector while the other is dead, whichever led', async () => {
    for (const index of [0, 1]) {
      await without('projector', index, async () => {
        await expectChecksToGoOn();
        await expectReadModelsToCatchUp();
      });
      await becomesReady('projector', index, 'http://127.0.0.1:8445/readyz');
    }
  }, 240_000);

  it('records and shows without NATS, and publishes again once it is back', async () => {
    await without('nats', 0, async () => {
      await expectChecksToGoOn();
      await expectReadModelsToCatchUp();
    });
    await eventually(
      'the relay has published everything',
      async () => {
        const said = await Promise.all([0, 1].map(feedOfProjector));
        return said.every(({ connected }) => connected) && said.some(({ lag }) => lag === '0');
      },
      RECOVERY_MS,
    );
  }, 240_000);

  it('goes on by itself after a restart of Postgres', async () => {
    await compose('restart', 'postgres');
    await eventually('the database answers', async () => (await sql('select true')) === 't', RECOVERY_MS);
    await expectChecksToGoOn();
    await expectReadModelsToCatchUp();
    expect((await machines()).find((one) => one.id === id)).toMatchObject({
      presence: 'present',
      lifecycle: 'running',
    });
  }, 240_000);

  it('has lost nothing that a machine was told is recorded (I1, I2, I3, I4, I5, I6, I7, I9, I14)', async () => {
    over.abort();
    const { outcomes, accepted } = await running;
    expect(accepted).toBeGreaterThan(10 * RATE);
    // Nothing but what a machine repeats: no connection, or a plane that says that it cannot just now.
    expect(Object.keys(outcomes).filter((what) => /not from the plane|refused: (?!unavailable)/.test(what))).toEqual(
      [],
    );
    const answers = join(scratch, 'answers.jsonl');
    await writeFile(answers, answered.map((checkId) => JSON.stringify({ checkId })).join('\n'));
    const password = await secret('operator-api', 'database-app/password');
    const url = `postgres://rollcall_app:${password}@localhost:${environment['ROLLCALL_POSTGRES_PORT']}/rollcall`;
    const args = [join(root, 'infra/verify.mjs'), '--json', '--answers', answers, url];
    const { stdout, output } = await processes.run('verify', node, args);
    if (!stdout) throw new Error(output);
    const { invariants } = JSON.parse(stdout) as {
      invariants: { id: string; examined: number; offenders: string[] }[];
    };
    expect(Object.fromEntries(invariants.map((one) => [one.id, one.offenders]))).toEqual(
      Object.fromEntries(['I1', 'I2', 'I3', 'I4', 'I5', 'I6', 'I7', 'I9', 'I14'].map((name) => [name, []])),
    );
    expect(invariants.find((one) => one.id === 'I1')?.examined).toBe(answered.length);
  }, 120_000);

  it('ends each service in order when it is asked to, though it is the first process', async () => {
    await compose('stop', 'machine-api', 'operator-api', 'projector');
    const stopped = (await Promise.all(['machine-api', 'operator-api', 'projector'].map(containers))).flat();
    const states = await Promise.all(stopped.map(async (one) => (await one.inspect()).State.ExitCode));
    expect(states).toEqual([0, 0, 0, 0, 0]);
  }, 60_000);

  it('leaves nothing behind', async () => {
    await compose('down', '--volumes', '--timeout', '5');
    const { dockerode } = engine.container;
    const filters = { label: [`com.docker.compose.project=${project}`] };
    expect(await dockerode.listContainers({ all: true, filters })).toEqual([]);
    expect(await dockerode.listNetworks({ filters })).toEqual([]);
    expect((await dockerode.listVolumes({ filters })).Volumes ?? []).toEqual([]);
  }, 120_000);
});
