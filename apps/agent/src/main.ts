import { UnsafeFile } from '@rollcall/secret-file';
import { Command, CommanderError, Option } from 'commander';
import { enrol } from './commands/enrol.js';
import { run } from './commands/run.js';
import { start } from './commands/start.js';
import { status } from './commands/status.js';
import { stop } from './commands/stop.js';
import { GIVEN_REASONS } from './daemon/stop-reason.js';
import { EXIT, Told } from './exit-code.js';
import { stateDirectory, type StateDirectory } from './installation/state-directory.js';
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
`;

/** The command line of the agent. */
const main = async (argv: readonly string[]): Promise<number> => {
  let exitCode: number = EXIT.ok;
  const program = new Command('rollcall-agent')
    .description('Keeps this machine present at its plane. Listens on nothing but a UNIX socket.')
    .addHelpText('after', EXIT_CODES)
    .exitOverride();

  const command = (
    name: string,
    description: string,
    action: (directory: StateDirectory, options: never) => Promise<number>,
  ) =>
    program
      .command(name)
      .description(description)
      .option(
        '--state-dir <dir>',
        'where the installation is kept (default: $STATE_DIRECTORY, else ~/.local/state/rollcall-agent)',
      )
      .option('--runtime-dir <dir>', 'where the control socket is (default: the state directory)')
      .action(async (options: { stateDir?: string; runtimeDir?: string }) => {
        exitCode = await action(locate(options), options as never);
      });

  command('enrol', 'join a plane; the token comes on standard input', enrol).option(
    '--replace',
    'even if this installation is enrolled already',
  );
  command('run', 'run in the foreground until stopped', run);
  command('status', 'say how it is going', status).option('--json', 'as one JSON document');
  command('stop', 'stop the agent; it stays stopped until "start"', stop).addOption(
    new Option('--reason <word>', 'what the plane is told; only "person" makes it stay stopped')
      .choices(GIVEN_REASONS)
      .default('person'),
  );
  command('start', 'start the agent in the background, also after a stop', start);
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
    if (error instanceof UnsafeFile) return EXIT.usage;
    return error instanceof Told ? error.exitCode : EXIT.fault;
  }
};

const locate = (options: { stateDir?: string; runtimeDir?: string }): StateDirectory => {
  try {
    return stateDirectory(options, process.env);
  } catch (error) {
    throw new Told(EXIT.usage, (error as Error).message);
  }
};

// A reader that went away, or a disk that is full, costs the lines and never the agent: it has a plane to check in with (O13).
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

process.exitCode = await main(process.argv);
