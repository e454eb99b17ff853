import { resolve } from 'node:path';
import { INTERVAL_CEILING_SECONDS, INTERVAL_FLOOR_SECONDS } from '@rollcall/wire';
import { Command, InvalidArgumentError, Option } from 'commander';

/** What `npm start` can be told. */
export type StandaloneOptions = {
  readonly data: string;
  readonly machinePort: number;
  readonly operatorPort: number;
  readonly projectorPort: number;
  readonly postgresPort: number;
  readonly natsPort: number;
  /** False: no nats-server, even where there is one. */
  readonly nats: boolean;
  /** Each of the three services shows its metrics, on a port that the system chooses. */
  readonly metrics: boolean;
  /** The collector that gets the traces of every request. */
  readonly traces?: string;
  /** Targets of webhooks that are allowed although they are private; as in `ROLLCALL_WEBHOOK_ALLOW`. */
  readonly webhookAllow?: string;
  readonly person: string;
  /** False: no local agent. */
  readonly agent: boolean;
  /** Seconds. */
  readonly interval?: number;
  readonly windowFloor?: number;
  readonly gap?: number;
  readonly mark?: number;
};

/** Reads the command line; `directory` is what a relative `--data` starts from. Prints help or the problem and exits; a port may also come from the environment. */
export const readOptions = (
  argv: readonly string[],
  { userName, directory }: { readonly userName: string; readonly directory: string },
): StandaloneOptions => {
  const program = new Command('npm start --')
    .description(
      'Runs a whole Rollcall plane on this machine: PostgreSQL, NATS, both APIs, the projector and one real agent.',
    )
    .option('--data <dir>', 'where all state lives', (text) => pathFrom(directory, text), '.rollcall')
    .addOption(port('--machine-port <port>', 'HTTPS port that machines call', 8443, 'ROLLCALL_MACHINE_API_PORT'))
    .addOption(
      port('--operator-port <port>', 'HTTPS port that people and the CLI call', 8444, 'ROLLCALL_OPERATOR_API_PORT'),
    )
    .addOption(
      port('--projector-port <port>', "port of the projector's health endpoints", 8445, 'ROLLCALL_PROJECTOR_PORT'),
    )
    .addOption(port('--postgres-port <port>', 'port of the embedded PostgreSQL', 8446, 'ROLLCALL_POSTGRES_PORT'))
    .addOption(port('--nats-port <port>', 'port of the nats-server, where there is one', 8447, 'ROLLCALL_NATS_PORT'))
    .option('--no-nats', 'do not run a nats-server')
    .option('--metrics', 'show metrics for Prometheus, each service on a free port', false)
    .option('--traces <url>', 'send the traces of all requests there, as OTLP over HTTP')
    .addOption(
      new Option(
        '--webhook-allow <list>',
        'private targets that webhooks may go to, such as 10.1.0.0/16 or 127.0.0.1:9000, between commas',
      ).env('ROLLCALL_WEBHOOK_ALLOW'),
    )
    .option('--person <name>', 'what the first person is called', userName)
    .option('--no-agent', 'do not run a local agent')
    .option(
      `--interval <seconds>`,
      `seconds between checks, ${INTERVAL_FLOOR_SECONDS} to ${INTERVAL_CEILING_SECONDS}`,
      seconds,
    )
    .addOption(
      new Option('--window-floor <seconds>', 'for tests: least silence that counts as absence')
        .argParser(seconds)
        .hideHelp(),
    )
    .addOption(
      new Option('--gap <seconds>', 'for tests: what counts as a deaf time of the plane').argParser(seconds).hideHelp(),
    )
    .addOption(new Option('--mark <seconds>', 'for tests: idle time before a mark').argParser(seconds).hideHelp())
    .parse(argv);
  const options: StandaloneOptions = program.opts();
  const { interval, windowFloor } = options;
  // Tests that shorten the window as well may go below the floor.
  const isUsual = interval === undefined || (Number.isInteger(interval) && interval >= INTERVAL_FLOOR_SECONDS);
  if ((!isUsual && windowFloor === undefined) || (interval ?? 0) > INTERVAL_CEILING_SECONDS)
    program.error(
      `error: option '--interval <seconds>' argument '${interval}' is invalid. It is a whole number from ${INTERVAL_FLOOR_SECONDS} to ${INTERVAL_CEILING_SECONDS}.`,
    );
  return options;
};

const pathFrom = (directory: string, text: string): string => {
  if (text === '') throw new InvalidArgumentError('It is empty.');
  return resolve(directory, text);
};

const port = (flags: string, description: string, fallback: number, variable: string): Option =>
  new Option(flags, description)
    .default(fallback)
    .env(variable)
    .argParser((text) => {
      const value = Number(text);
      if (!/^\d{1,5}$/.test(text) || value < 1 || value > 65_535)
        throw new InvalidArgumentError('It is not a port from 1 to 65535.');
      return value;
    });

const seconds = (text: string): number => {
  const value = Number(text);
  if (!/^\d{1,5}(\.\d{1,3})?$/.test(text) || value <= 0)
    throw new InvalidArgumentError('It is not a number of seconds.');
  return value;
};
