import { homedir } from 'node:os';
import { join } from 'node:path';
import { CommanderError } from 'commander';
import type { Context, Surroundings } from './context.js';
import { EXIT, Failure, Interrupted, type ExitCode } from './failure.js';
import { Output } from './output/output.js';
import { printable } from './output/printable.js';
import { pinnedStream, pinnedTransport } from './plane/pinned-transport.js';
import { Plane } from './plane/plane.js';
import { buildProgram } from './program.js';
import { SessionFile } from './session/session-file.js';

/** Runs one command line (without `node` and the script) and says what the process should end with. Never rejects. */
export const run = async (argv: readonly string[], surroundings: Surroundings): Promise<ExitCode> => {
  const { stdout, stderr, env } = surroundings;
  const tell = (sentence: string): void => void stderr.write(`${printable(sentence)}\n`);
  const program = buildProgram(({ json }) => contextOf(surroundings, new Output(stdout, stderr, env, json)), {
    out: (text) => void stdout.write(text),
    err: (text) => void stderr.write(text.split('\n').map(printable).join('\n')),
  });
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return EXIT.done;
  } catch (failure) {
    if (failure instanceof CommanderError) return failure.exitCode === 0 ? EXIT.done : EXIT.usage;
    if (failure instanceof Interrupted || (surroundings.signal.aborted && !(failure instanceof Failure)))
      return EXIT.interrupted;
    if (failure instanceof Failure) {
      tell(failure.message);
      return failure.exitCode;
    }
    tell(`This should not have happened: ${failure instanceof Error ? failure.message : String(failure)}`);
    return EXIT.failed;
  }
};

const contextOf = (surroundings: Surroundings, output: Output): Context => {
  const { env } = surroundings;
  const sessions = new SessionFile(env['ROLLCALL_CONFIG_DIR'] || join(env['HOME'] || homedir(), '.config', 'rollcall'));
  return {
    surroundings,
    output,
    sessions,
    plane: async () => {
      const stored = await sessions.read();
      if (!stored) throw new Failure('You are not signed in: run `rollcall login`.', EXIT.notSignedIn);
      return new Plane(stored.address, pinnedTransport(stored), stored.session, pinnedStream(stored));
    },
    planeAt: (place, session) => new Plane(place.address, pinnedTransport(place), session ?? null),
  };
};
