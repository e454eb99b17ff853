import { Command, CommanderError, Option } from 'commander';
import { GIVEN_REASONS } from './daemon/stop-reason.js';
import { EXIT, Told } from './exit-code.js';
import type { StateDirectory } from './installation/state-directory.js';
import { printable } from './log.js';
import { VERSION } from './version.js';

const EXIT_CODES = `
Exit codes:
  0  done; for "run" also: stopped as asked, or another one is running
  1  something failed that should not
  2  the command line, the input or the state directory is not usable
  3  status: the agent is not running
  4  the plane refused
  5  no proper answer: not reachable, or not proven to be the plane
  6  enrol: this installation is enrolled already
  7  run: a person stopped this agent; only "rollcall-agent start" starts it again
  8  status: this machine was deleted at the plane; a person has to enrol it again
`;

type Action = (directory: StateDirectory, options: never) => Promise<number>;

/** Each is loaded when it is asked for: what one of them needs of Node takes longer to load than another one takes to run. */
const actions = {
  enrol: async () => (await import('./commands/enrol.js')).enrol,
  rotate: async () => (await import('./commands/rotate.js')).rotate,
  run: async () => (await import('./commands/run.js')).run,
  start: async () => (await import('./commands/start.js')).start,
  status: async () => (await import('./commands/status.js')).status,
  stop: async () => (await import('./commands/stop.js')).stop,
} satisfies Record<string, () => Promise<Action>>;

/** The command line of the agent. */
const main = async (argv: readonly string[]): Promise<number> => {
  let exitCode: number = EXIT.ok;
  const program = new Command('rollcall-agent')
    .description('Keeps this machine present at its plane. Listens on nothing but a UNIX socket.')
    .addHelpText('after', EXIT_CODES)
    .exitOverride();

  const command = (name: keyof typeof actions, description: string) =>
    program
      .command(name)
      .description(description)
      .option(
        '--state-dir <dir>',
        'where the installation is kept (default: $STATE_DIRECTORY, else ~/.local/state/rollcall-agent)',
      )
      .option('--runtime-dir <dir>', 'where the control socket is (default: the state directory)')
      .action(async (options: { stateDir?: string; runtimeDir?: string }) => {
        const action: Action = await actions[name]();
        exitCode = await action(await locate(options), options as never);
      });

  command('enrol', 'join a plane; the token comes on standard input')
    .option('--replace', 'even if this installation is enrolled already')
    .option(
      '--code <address>',
      'without a token: show a short code that a person approves, at the plane with this https origin',
    )
    .option('--pin <pin...>', 'with --code: the keys to expect there (default: a public certificate)');
  command('rotate', 'take a new credential; the old one counts until the new one has succeeded');
  command('run', 'run in the foreground until stopped');
  command('status', 'say how it is going').option('--json', 'as one JSON document');
  command('stop', 'stop the agent; it stays stopped until "start"').addOption(
    new Option('--reason <word>', 'what the plane is told; only "person" makes it stay stopped')
      .choices(GIVEN_REASONS)
      .default('person'),
  );
  command('start', 'start the agent in the background, also after a stop');
  program
    .command('version')
    .description('print the version')
    .action(() => {
      process.stdout.write(`${VERSION}\n`);
    });

  try {
    await program.parseAsync([...argv]);
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    process.stderr.write(`rollcall-agent: ${printable((error as Error).message)}\n`);
    if (error instanceof (await import('@rollcall/secret-file')).UnsafeFile) return EXIT.usage;
    return error instanceof Told ? error.exitCode : EXIT.fault;
  }
};

const locate = async (options: { stateDir?: string; runtimeDir?: string }): Promise<StateDirectory> => {
  const { stateDirectory } = await import('./installation/state-directory.js');
  try {
    return stateDirectory(options, process.env);
  } catch (error) {
    throw new Told(EXIT.usage, (error as Error).message);
  }
};

// A reader that went away, or a disk that is full, costs the lines and never the agent: it has a plane to check in with (O13).
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

process.exitCode = await main(process.argv);
