import 'reflect-metadata';
import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { MachineQueries, openReadModels } from '@rollcall/read-models';
import pc from 'picocolors';
import { openDataDirectory, type DataDirectory } from './data-directory.js';
import { tokenFrom, welcome } from './first-person.js';
import { LocalAgent } from './local-agent.js';
import { readOptions, type StandaloneOptions } from './options.js';
import { openPlane, OpenedInOrder, type Plane } from './plane.js';

const STOP_LIMIT_MS = 10_000;

// dist/apps/standalone/main.js → dist
const dist = resolve(fileURLToPath(import.meta.url), '../../..');
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const step = (line: string): void => say(pc.dim(`  ${line}`));

const main = async (): Promise<number> => {
  const options = readOptions(process.argv, userInfo().username);
  const opened = new OpenedInOrder();
  const stop = stopSignal();
  try {
    say(pc.bold('Rollcall starts.'));
    const directory = await openDataDirectory(options.data);
    opened.add({ close: () => directory.release() });
    const plane = await openPlane(directory, options, {
      migrations: join(dist, 'infra/migrations'),
      opened,
      tell: step,
    });
    const person = await welcome(plane, options.person);
    announce(plane, directory, person.link);
    if (options.agent)
      await Promise.race([
        runAgent(plane, directory, options, { opened, personId: person.personId, stop }),
        aborted(stop),
      ]);
    await aborted(stop);
    say('\nRollcall stops: the agent says goodbye, then the plane ends.');
    return 0;
  } catch (error) {
    process.stderr.write(
      `${pc.red('Rollcall did not start:')} ${error instanceof Error ? error.message : String(error)}\n`,
    );
    return 1;
  } finally {
    // Whatever hangs, the terminal gets its prompt back; the next start recovers.
    setTimeout(() => process.exit(1), STOP_LIMIT_MS).unref();
    await opened.close();
  }
};

/** Aborts at the first signal. Later ones change nothing: a terminal, npm and a wrapper each send theirs. */
const stopSignal = (): AbortSignal => {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort());
  return stop.signal;
};

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

const announce = (plane: Plane, directory: DataDirectory, link: string): void => {
  say('');
  say(`${pc.bold('Machines call')}   ${plane.machineApi.url}`);
  say(`${pc.bold('People call')}     ${plane.operatorApi.url}`);
  say(
    `${pc.bold('Health')}          ${plane.projector.url}/readyz, ${plane.operatorApi.url}/readyz, ${plane.machineApi.url}/readyz`,
  );
  say(`${pc.bold('State and logs')}  ${directory.root}`);
  say('');
  say('You started this plane, so you are its first person. This link signs you in, once, within an hour:');
  say('');
  say(`  npm run cli -- login '${link}'`);
  say('');
  say('Then, for example:');
  say('');
  say('  npm run cli -- machines                  who is here');
  say('  npm run cli -- token issue --name web-1  a token for another machine: rollcall-agent enrol');
  say('  npm run cli -- --help                    everything else');
  say('');
  say('Ctrl-C stops everything in order.');
  say('');
};

type AgentParts = { readonly opened: OpenedInOrder; readonly personId: string; readonly stop: AbortSignal };

/** Runs the local agent, enrolling it where it is new, and tells when the plane sees it. */
const runAgent = async (
  plane: Plane,
  directory: DataDirectory,
  options: StandaloneOptions,
  { opened, personId, stop }: AgentParts,
): Promise<void> => {
  const program = join(dist, 'apps/agent/rollcall-agent.mjs');
  if (!existsSync(program)) throw new Error(`There is no agent at ${program}: npm run build`);
  const floor =
    options.interval !== undefined && options.windowFloor !== undefined
      ? { ROLLCALL_AGENT_INTERVAL_FLOOR_MS: String(options.interval * 1000) }
      : {};
  const agent = opened.add(
    closable(new LocalAgent(program, directory.agent, directory.logs, { ...process.env, ...floor })),
  );
  const before = await agent.status();
  if (before.stoppedByPersonSince !== null) {
    say(pc.yellow(`The local agent stays stopped: ${before.sentence}`));
    return;
  }
  if (before.state === 'not-enrolled') {
    await agent.enrol(await tokenFrom(plane, personId));
    step('The local agent is enrolled.');
  }
  await agent.start();
  await tellPresence(plane, agent, stop, opened);
};

const closable = (agent: LocalAgent): LocalAgent & { close(): Promise<void> } =>
  Object.assign(agent, { close: () => agent.stop() });

/** The line that a newcomer waits for: the plane itself says that the agent is present. */
const tellPresence = async (
  plane: Plane,
  agent: LocalAgent,
  stop: AbortSignal,
  opened: OpenedInOrder,
): Promise<void> => {
  const database = openReadModels({ connectionString: plane.databaseUrl, onIdleError: () => undefined });
  opened.add({ close: () => database.destroy() });
  const machines = new MachineQueries(database, plane.store);
  let told = '';
  let id: string | null = null;
  while (!stop.aborted) {
    id ??= (await agent.status()).machine?.id ?? null;
    const found = id === null ? undefined : (await machines.find(id)).machines[0];
    const isPresent = found?.presence === 'present' && found.deletedAt === null;
    // Where the plane does not hear it, the agent itself knows best why.
    const line = isPresent ? found.sentence : (await agent.status()).sentence;
    if (line !== told)
      say(`${isPresent ? pc.green('●') : pc.yellow('○')} ${found?.name ?? 'the local agent'}: ${line}`);
    told = line;
    await wait(isPresent ? 2_000 : 500, undefined, { signal: stop }).catch(() => undefined);
  }
};

process.exitCode = await main();
