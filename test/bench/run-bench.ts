import { cpus } from 'node:os';
import { join } from 'node:path';
import { cpuOfFamily, cpuOfProcess } from './cpu.js';
import { at, closedLoop, newConnections, openLoop, type LoadMachine, type LoadResult } from './load.js';
import { agentVersionMs, measureIdleAgent } from './idle-agent.js';
import { oneCommitPerCheck } from './one-commit.js';
import { openBenchPlane } from './plane.js';
import { watchPresenceLag } from './presence-lag.js';
import { report } from './report.js';
import { Begun } from './servers.js';
import { measureSilence } from './silence.js';

const [root = '.', ...flags] = process.argv.slice(2);
const quick = flags.includes('--quick');
const seconds = quick ? 4 : 15;
const tell = (line: string): void => void process.stderr.write(`bench: ${line}\n`);
const OPEN_RATE = 2_000;
// A machine checks twice a second there: often for a machine, and few enough connections for one client.
const OPEN_MACHINES = 1_000;

const begun = new Begun();

const bench = async () => {
  tell('PostgreSQL starts (durable: fsync and synchronous_commit are on)');
  const plane = await openBenchPlane(root, begun);
  const machines = await plane.admit(OPEN_MACHINES + 10);
  const fleet = machines.slice(0, 256);
  const { certificateFile, keyFile, ca } = plane.certificate;

  const echoes = async (how: { readonly tls: boolean }): Promise<LoadResult> => {
    const echo = await begun.serve(
      [
        join(root, 'node_modules/.cache/rollcall/bench/echo-server.mjs'),
        ...(how.tls ? [certificateFile, keyFile] : []),
      ],
      /port (\d+)/,
    );
    const target = { port: Number(echo.match?.[1]), ca: how.tls ? ca : null };
    // The echo has no record to keep: it gets machines of its own.
    const callers = () => fleet.map((one): LoadMachine => ({ ...one }));
    await closedLoop(target, { machines: callers(), seconds: 1 });
    const result = await closedLoop(target, { machines: callers(), seconds });
    await echo.stop();
    return result;
  };

  tell(`bare Fastify echo, 256 connections, ${seconds} s`);
  const echo = await echoes({ tls: false });

  const updatesOfHeads = async () => {
    // Sessions hand in their counters when they end, a moment later.
    await new Promise((resume) => setTimeout(resume, 500));
    const of = (counter: string) =>
      plane.number(`select ${counter} from pg_stat_user_tables where relname = 'stream_head'`);
    return { hot: await of('n_tup_hot_upd'), all: await of('n_tup_upd') };
  };
  const updatesBefore = await updatesOfHeads();

  tell(`durable checks, 64 and 256 connections, ${seconds} s each`);
  const plain = await plane.machineApi({ tls: false });
  await closedLoop(plain.target, { machines: fleet, seconds: 1 });
  const checks64 = await closedLoop(plain.target, { machines: fleet.slice(0, 64), seconds });
  const cpuBefore = { machineApi: await cpuOfProcess(plain.pid), postgres: await cpuOfFamily(plane.postgresPid) };
  const checks256 = await closedLoop(plain.target, { machines: fleet, seconds });
  const cpuSaturated = {
    machineApi: ((await cpuOfProcess(plain.pid)) - cpuBefore.machineApi) / checks256.answers,
    postgres: ((await cpuOfFamily(plane.postgresPid)) - cpuBefore.postgres) / checks256.answers,
  };
  await plain.stop();
  const checksPerBatch = await plane.number('select avg(checks) from batch where checks > 0');

  tell(`the same over TLS, 256 kept connections, then a new connection for each check, ${seconds} s each`);
  const tlsEcho = await echoes({ tls: true });
  const encrypted = await plane.machineApi({ tls: true });
  await closedLoop(encrypted.target, { machines: fleet, seconds: 1 });
  const tls256 = await closedLoop(encrypted.target, { machines: fleet, seconds });
  const newTls = await newConnections({ ...encrypted.target, ca }, { machines: fleet.slice(0, 64), seconds });

  if (!quick) tell('an idle agent, 95 s');
  const idleAgent = quick
    ? null
    : await plane.withStore((store) =>
        measureIdleAgent(root, begun, { ...plane.installation(encrypted.target), store }),
      );

  tell(`${OPEN_RATE} checks a second from ${OPEN_MACHINES} machines, with the projector (${plane.feed}), ${seconds} s`);
  await encrypted.stop();
  const spread = await plane.machineApi({ tls: false });
  const projector = await plane.projector();
  const load = { machines: machines.slice(0, OPEN_MACHINES), perSecond: OPEN_RATE };
  // Each machine has checked in a few times, as on a plane that runs: a new instance has to look up whom it knows.
  for (const perSecond of [OPEN_RATE / 4, OPEN_RATE]) await openLoop(spread.target, { ...load, perSecond, seconds: 2 });
  // What was recorded so far is applied and published first: the lag of a projector that catches up is another question.
  const newest = await plane.number('select max(number) from batch');
  const reached =
    plane.feed === 'nats'
      ? 'least((select min(checkpoint) from read_model), coalesce((select max(number) from relay_cursor), 0))'
      : '(select min(checkpoint) from read_model)';
  while ((await plane.number(`select coalesce(${reached}, 0)`)) < newest)
    await new Promise((resume) => setTimeout(resume, 100));
  const lag = await watchPresenceLag(plane.databaseUrl);
  const openBefore = {
    machineApi: await cpuOfProcess(spread.pid),
    postgres: await cpuOfFamily(plane.postgresPid),
    projector: await cpuOfProcess(projector.pid),
  };
  const open = await openLoop(spread.target, { ...load, seconds, witness: lag.witness });
  const lags = await lag.end();
  const cpuOpen = {
    machineApi: ((await cpuOfProcess(spread.pid)) - openBefore.machineApi) / open.answers,
    postgres: ((await cpuOfFamily(plane.postgresPid)) - openBefore.postgres) / open.answers,
    projector: ((await cpuOfProcess(projector.pid)) - openBefore.projector) / open.answers,
  };
  await projector.stop();
  await spread.stop();

  tell(`one commit per check on ten connections, without HTTP, ${seconds} s`);
  const oneCommit = await oneCommitPerCheck(plane.databaseUrl, { machines: machines.slice(OPEN_MACHINES), seconds });

  const updates = await updatesOfHeads();
  const recorded = await plane.number('select count(*) from check_in');
  const bytes = await plane.number(`select sum(pg_table_size(inhrelid) + pg_indexes_size(inhrelid)) from pg_inherits
    where inhparent = 'check_in'::regclass and exists (select from pg_stat_user_tables where relid = inhrelid and n_tup_ins > 0)`);
  tell('silence: machines that fall silent, notices to a webhook, sweeps over 10,000 and 1,000,000 machines');
  const silence = await measureSilence(plane, begun);
  return {
    silence,
    echo,
    tlsEcho,
    checks64,
    checks256,
    tls256,
    newTls,
    open,
    lags,
    cpuSaturated,
    cpuOpen,
    oneCommit,
    checksPerBatch,
    recorded,
    bytesPerCheckIn: bytes / recorded,
    hotShare: (updates.hot - updatesBefore.hot) / (updates.all - updatesBefore.all),
    feed: plane.feed,
    agentVersionMs: await agentVersionMs(root),
    idleAgent,
  };
};

const round = (value: number, digits = 0): number => Number(value.toFixed(digits));
const eachRounded = <Key extends string>(values: Record<Key, number>, digits: number): Record<Key, number> =>
  Object.fromEntries(Object.entries<number>(values).map(([key, value]) => [key, round(value, digits)])) as Record<
    Key,
    number
  >;

process.once('SIGINT', () => {
  tell('stopped; what was started is ended');
  void begun.end(tell).then(() => process.exit(130));
});
try {
  const measured = await bench();
  const { silence, echo, tlsEcho, checks64, checks256, tls256, newTls, open, lags, oneCommit } = measured;
  const result = {
    echoPerSecond: round(echo.perSecond),
    checksPerSecond: round(checks256.perSecond),
    checksPerSecond64: round(checks64.perSecond),
    tlsEchoPerSecond: round(tlsEcho.perSecond),
    tlsChecksPerSecond: round(tls256.perSecond),
    newTlsPerSecond: round(newTls.perSecond),
    newTlsResumedShare: round(newTls.resumedShare, 3),
    oneCommitPerSecond: round(oneCommit),
    /** Of `echoPerSecond`, plain HTTP: the gates are 0.30 at 256 connections and 0.22 at 64. */
    ratio: eachRounded(
      {
        closed256: checks256.perSecond / echo.perSecond,
        closed64: checks64.perSecond / echo.perSecond,
        tls256: tls256.perSecond / echo.perSecond,
        tls256OfTlsEcho: tls256.perSecond / tlsEcho.perSecond,
        oneCommit: checks256.perSecond / oneCommit,
      },
      3,
    ),
    /** API and PostgreSQL at 256 connections, as fast as it goes; the projector at 2,000 checks a second. */
    cpuMsPerCheck: eachRounded({ ...measured.cpuSaturated, projector: measured.cpuOpen.projector }, 3),
    cpuMsPerCheckAt2000: eachRounded(measured.cpuOpen, 3),
    p50Ms: eachRounded({ echo256: echo.p50, closed64: checks64.p50, closed256: checks256.p50, open2000: open.p50 }, 1),
    p99Ms: eachRounded({ echo256: echo.p99, closed64: checks64.p99, closed256: checks256.p99, open2000: open.p99 }, 1),
    openPerSecond: round(open.perSecond),
    /** From when a window is over to the event, and from an event to its notice at the receiver. */
    absenceMs: eachRounded({ p50: at(silence.absence, 0.5), p99: at(silence.absence, 0.99) }, 0),
    webhookMs: eachRounded({ p50: at(silence.webhook, 0.5), p99: at(silence.webhook, 0.99) }, 0),
    /** Over machines of which none is due. */
    sweepMs: eachRounded(silence.sweepMs, 2),
    presenceLagP99Ms: round(at(lags, 0.99), 1),
    bytesPerCheckIn: round(measured.bytesPerCheckIn, 1),
    hotShare: round(measured.hotShare, 4),
    checksRecorded: measured.recorded,
    checksPerBatch: round(measured.checksPerBatch, 1),
    agentVersionMs: round(measured.agentVersionMs),
    /** Not in a quick run. */
    ...(measured.idleAgent
      ? {
          agentIdle: {
            megabytes: round(measured.idleAgent.megabytes),
            cpuPercent: round(measured.idleAgent.cpuPercent, 2),
          },
        }
      : {}),
    feed: measured.feed,
    cores: cpus().length,
    seconds,
  };
  process.stdout.write(flags.includes('--json') ? `${JSON.stringify(result)}\n` : report(result));
} finally {
  await begun.end(tell);
}
