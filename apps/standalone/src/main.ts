import 'reflect-metadata';
import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MachineQueries, openReadModels } from '@rollcall/read-models';
import pc from 'picocolors';
import { openDataDirectory, type DataDirectory } from './data-directory.js';
import { tokenFrom, welcome } from './first-person.js';
import { LocalAgent } from './local-agent.js';
import { readOptions, type StandaloneOptions } from './options.js';
import { openPlane, OpenedInOrder, type Plane } from './plane.js';
import { tellPresence, type Look } from './presence-line.js';

const STOP_LIMIT_MS = 10_000;

// dist/apps/standalone/main.js → dist
const dist = resolve(fileURLToPath(import.meta.url), '../../..');
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const step = (line: string): void => say(pc.dim(`  ${line}`));

const main = async (): Promise<number> => {
  const options = readOptions(process.argv, {
    userName: nameOfUser(),
    // npm runs us in the checkout; what a person names they name from where they are.
    directory: process.env['INIT_CWD'] ?? process.cwd(),
  });
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
      signal: stop,
    });
    const person = await welcome(plane, options.person);
    stop.throwIfAborted();
    announce(plane, directory, person.link);
    if (options.agent) await runAgent(plane, directory, options, { opened, personId: person.personId, stop });
    await aborted(stop);
    return 0;
  } catch (error) {
    // What a stop cuts short fails as well; that is no news.
    if (stop.aborted) return 0;
    process.stderr.write(
      `${pc.red('Rollcall did not start:')} ${error instanceof Error ? error.message : String(error)}\n`,
    );
    return 1;
  } finally {
    endSoon();
    await opened.close();
  }
};

/** Whatever hangs, the terminal gets its prompt back; the next start recovers. */
const endSoon = (): void => void setTimeout(() => process.exit(1), STOP_LIMIT_MS).unref();

/** Aborts at the first signal, also in the middle of the start. Later ones change nothing: a terminal, npm and a wrapper each send theirs. */
const stopSignal = (): AbortSignal => {
  const stop = new AbortController();
  const begin = (): void => {
    if (stop.signal.aborted) return;
    say('\nRollcall stops, the agent first.');
    endSoon();
    stop.abort();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, begin);
  return stop.signal;
};

/** An account without an entry of its own, as containers give, has no name. */
const nameOfUser = (): string => {
  try {
    return userInfo().username;
  } catch {
    return 'operator';
  }
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
  if (plane.nats)
    say(`${pc.bold('Subscribers')}     ${plane.nats.url}, user and password in ${plane.nats.credentialsFile}`);
  if (plane.metricsUrls.length > 0) say(`${pc.bold('Metrics')}         ${plane.metricsUrls.join(', ')}`);
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
  const agent = opened.add(closable(new LocalAgent(program, directory, { ...process.env, ...floor })));
  const before = await agent.status(stop);
  if (before.stoppedByPersonSince !== null) {
    say(pc.yellow(`The local agent stays stopped: ${before.sentence}`));
    return;
  }
  if (before.state === 'not-enrolled') {
    await agent.enrol(await tokenFrom(plane, personId));
    stop.throwIfAborted();
    step('The local agent is enrolled.');
  }
  await agent.start(stop);
  const database = openReadModels({ connectionString: plane.databaseUrl, onIdleError: () => undefined });
  opened.add({ close: () => database.destroy() });
  await tellPresence(lookThrough(new MachineQueries(database, plane.store), agent, stop), {
    tell: ({ isPresent, name, sentence }) => say(`${isPresent ? pc.green('●') : pc.yellow('○')} ${name}: ${sentence}`),
    signal: stop,
  });
};

const closable = (agent: LocalAgent): LocalAgent & { close(): Promise<void> } =>
  Object.assign(agent, { close: () => agent.stop() });

/** Asks the plane for the agent; where the plane does not hear it, the agent itself knows best why. */
const lookThrough = (machines: MachineQueries, agent: LocalAgent, stop: AbortSignal): (() => Promise<Look>) => {
  let id: string | null = null;
  return async () => {
    id ??= (await agent.status(stop)).machine?.id ?? null;
    const found = id === null ? undefined : (await machines.find(id)).machines[0];
    const isPresent = found?.presence === 'present' && found.deletedAt === null;
    return {
      isPresent,
      name: found?.name ?? 'the local agent',
      sentence: isPresent ? found.sentence : (await agent.status(stop)).sentence,
    };
  };
};

// A terminal that is gone costs the lines; the plane still has to stop in order.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

process.exitCode = await main();
