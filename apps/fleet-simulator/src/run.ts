import { createWriteStream, type WriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { addAbortSignal, type Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { finished } from 'node:stream/promises';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { Fleet } from './fleet.js';
import type { FleetReport } from './tally.js';

/** What the program works with outside of itself. */
export type Surroundings = {
  out(text: string): void;
  err(text: string): void;
  /** Where tokens come from when no file is named. */
  readonly stdin: Readable;
  /** Stops the fleet in order. */
  readonly stop: AbortSignal;
  /** Gives up what is under way. */
  readonly abandon: AbortSignal;
};

/** It ran; something failed; the command line cannot be used. */
export const EXIT = { ran: 0, failed: 1, usage: 2 } as const;

type Options = {
  readonly tokens?: string;
  readonly rate: number;
  readonly asAgents?: boolean;
  readonly seconds?: number;
  readonly seed?: number;
  readonly connections?: number;
  readonly eventEvery?: number;
  readonly answers?: string;
  readonly history?: string;
  readonly json?: boolean;
};

/** Runs one command line (without `node` and the script). Never rejects. */
export const run = async (argv: readonly string[], around: Surroundings): Promise<number> => {
  const program = new Command('fleet-simulator')
    .description(
      'Honest simulated machines for a plane: they enrol, check in at a rate or as agents do, restart, say goodbye and return.',
    )
    .addHelpText('after', '\nThe first Ctrl-C stops the fleet in order, a second one at once.')
    .addOption(new Option('--tokens <file>', 'enrolment tokens, one per line and machine (default: standard input)'))
    .addOption(new Option('--rate <n>', 'checks per second in total').argParser(positive).default(10))
    .addOption(
      new Option(
        '--as-agents',
        'no rate: each checks in on a connection of its own, at the interval of the plane, and returns as an agent does',
      ).conflicts('rate'),
    )
    .addOption(new Option('--seconds <n>', 'how long (default: until Ctrl-C)').argParser(positive))
    .addOption(
      new Option('--seed <n>', 'what the lives of the machines follow from (default: a random one)').argParser(
        whole(0),
      ),
    )
    .addOption(new Option('--connections <n>', 'requests under way at most (default: 64)').argParser(whole(1)))
    .addOption(
      new Option('--event-every <n>', 'one check in so many is an event; 0: none (default: 50)').argParser(whole(0)),
    )
    .addOption(new Option('--answers <file>', 'where the id of each accepted check is written, for "npm run verify"'))
    .addOption(new Option('--history <file>', 'where each check is written: when it was sent, and what came back'))
    .addOption(new Option('--json', 'the report as one JSON document'))
    .exitOverride()
    .configureOutput({ writeOut: around.out, writeErr: around.err });
  try {
    program.parse([...argv], { from: 'user' });
    await simulate(program.opts<Options>(), around);
    return EXIT.ran;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ran : EXIT.usage;
    around.err(`fleet-simulator: ${error instanceof Error ? error.message : String(error)}\n`);
    return EXIT.failed;
  }
};

const simulate = async (
  { tokens: file, rate, asAgents = false, seconds, answers, history, json = false, ...options }: Options,
  { out, err, stdin, stop, abandon }: Surroundings,
): Promise<void> => {
  const tokens = (file === undefined ? await text(addAbortSignal(stop, stdin)) : await readFile(file, 'utf8'))
    .split(/\s+/)
    .filter(Boolean);
  if (tokens.length === 0) throw new Error('There is no token, so there are no machines');
  await using fleet = new Fleet({ ...options, ownConnections: asAgents });
  err(`fleet-simulator: ${tokens.length} machines enrol, seed ${fleet.seed}\n`);
  const giveUp = () => void fleet[Symbol.asyncDispose]();
  abandon.addEventListener('abort', giveUp);
  const rest = tokens.values();
  await fleet.enrol(tokens.length, () => rest.next().value ?? '', AbortSignal.any([stop, abandon]));
  if (stop.aborted) return;

  err(`fleet-simulator: checking in ${asAgents ? 'as agents do' : `${rate} times a second`}\n`);
  const [accepted, sent] = [new Lines(answers), new Lines(history)];
  const live = {
    signal: seconds === undefined ? stop : AbortSignal.any([stop, AbortSignal.timeout(seconds * 1_000)]),
    onAccepted: (answer: object) => accepted.add(answer),
    onCheck: (check: object) => sent.add(check),
  };
  const report = await (asAgents ? fleet.live(live) : fleet.run({ ...live, rate }));
  await Promise.all([accepted.end(), sent.end()]);
  out(json ? `${JSON.stringify(report)}\n` : table(report));
};

/** A file of JSON lines, or none. A disk that refuses them is reported at the end; the fleet goes on until then. */
class Lines {
  readonly #kept: WriteStream | null;
  readonly #written: Promise<void>;

  constructor(path: string | undefined) {
    this.#kept = path === undefined ? null : createWriteStream(path, { mode: 0o600 });
    this.#written = this.#kept ? finished(this.#kept) : Promise.resolve();
    this.#written.catch(() => undefined);
  }

  add(line: object): void {
    this.#kept?.write(`${JSON.stringify(line)}\n`);
  }

  end(): Promise<void> {
    this.#kept?.end();
    return this.#written;
  }
}

const table = ({
  seed,
  machines,
  seconds,
  accepted,
  acceptedPerSecond,
  missed,
  latency,
  longestPause,
  ...rest
}: FleetReport) =>
  [
    ['machines', `${machines}, seed ${seed}`],
    [
      'accepted',
      `${accepted} in ${seconds.toFixed(1)} s, ${acceptedPerSecond.toFixed(1)}/s; ${missed} not begun in time`,
    ],
    ['latency', `p50 ${latency.p50.toFixed(1)} ms, p99 ${latency.p99.toFixed(1)} ms, max ${latency.max.toFixed(1)} ms`],
    ['longest pause', `${longestPause.toFixed(0)} ms`],
    ['answers', counts(rest.outcomes)],
    ['life', counts(rest.life)],
  ]
    .map(([name = '', value = '']) => `${name.padEnd(14)}${value}\n`)
    .join('');

const counts = (of: Readonly<Record<string, number>>): string =>
  Object.entries(of)
    .map(([what, count]) => `${what} ${count}`)
    .join(', ');

const positive = (given: string): number => {
  const value = Number(given);
  if (!(value > 0 && Number.isFinite(value))) throw new InvalidArgumentError('It must be a number above 0.');
  return value;
};

const whole =
  (least: number) =>
  (given: string): number => {
    const value = Number(given);
    if (!Number.isSafeInteger(value) || value < least || value >= 2 ** 31)
      throw new InvalidArgumentError(`It must be a whole number from ${least} to 2147483647.`);
    return value;
  };
