import { DEFAULT_INTERVAL } from '@rollcall/check-schedule';
import { readPrivateFile, removePrivateFile, writePrivateFile } from '@rollcall/secret-file';
import { isSecret, makeSecret } from '@rollcall/wire';
import { EXIT, Told } from '../exit-code.js';
import { readCredential, writeCredential } from '../installation/credential-file.js';
import { isKnownRevoked } from '../installation/file-notebook.js';
import { readHomePlane, writeHomePlane, type HomePlane } from '../installation/home-plane.js';
import type { StateDirectory } from '../installation/state-directory.js';
import { printable } from '../log.js';
import { DaemonBusy, LocalDaemon } from './local-daemon.js';

/** What an installation is to join with: a plane, and something that says whether it is the same attempt again (SHA-256, hex). */
export type Attempt = { readonly address: string; readonly with: string };

/** A second attempt on an installation that works is most likely a mistake. The same one again is not: its answer may have been lost. */
export const refuseIfEnrolled = async (directory: StateDirectory, attempt: Attempt): Promise<void> => {
  const reading = await readCredential(directory.credential);
  if (reading.state !== 'whole' || (await isKnownRevoked(directory.revoked, reading.key))) return;
  const home = await readHomePlane(directory.home);
  if (home?.enrolledWith === attempt.with || home?.address !== reading.key.address) return;
  throw new Told(
    EXIT.alreadyEnrolled,
    `This installation is enrolled already, as ${home.machine.id} at ${home.address}. Delete that machine first, or say --replace.`,
  );
};

/** The secret of this attempt: the one in use, the one that was made for it earlier (`begun`), or a new one, kept before anybody is told its hash. */
export const secretFor = async (
  directory: StateDirectory,
  attempt: Attempt,
): Promise<{ readonly secret: string; readonly begun: boolean }> => {
  const home = await readHomePlane(directory.home);
  const reading = await readCredential(directory.credential);
  if (reading.state === 'whole' && home?.enrolledWith === attempt.with && reading.key.address === attempt.address)
    return { secret: reading.key.secret, begun: true };
  const begun = parseBegun((await readPrivateFile(directory.enrolling, 4_096))?.toString('utf8') ?? '');
  if (begun?.tokenHash === attempt.with) return { secret: begun.secret, begun: true };
  const secret = makeSecret('rcm');
  await writePrivateFile(directory.enrolling, `${JSON.stringify({ tokenHash: attempt.with, secret })}\n`);
  return { secret, begun: false };
};

const parseBegun = (text: string): { tokenHash: string; secret: string } | null => {
  try {
    const { tokenHash, secret } = JSON.parse(text) as Record<string, unknown>;
    return typeof tokenHash === 'string' && typeof secret === 'string' && isSecret('rcm', secret)
      ? { tokenHash, secret }
      : null;
  } catch {
    return null;
  }
};

/** An admission, and the secret that it was for. `interval` in seconds, NaN where the answer named none. */
export type Admission = Pick<HomePlane, 'address' | 'pins' | 'machine' | 'enrolledWith'> & {
  readonly secret: string;
  readonly interval: number;
};

/** Keeps what this installation is from now on, in place of what it was before, and tells the daemon and the person. */
export const becomeMachine = async (
  directory: StateDirectory,
  { address, pins, machine, enrolledWith, secret, interval }: Admission,
): Promise<number> => {
  const wait = Number.isFinite(interval) && interval > 0 ? interval * 1_000 : DEFAULT_INTERVAL;
  await writeHomePlane(directory.home, { address, pins, machine, interval: wait, enrolledWith });
  // The chain of an earlier machine means nothing to this one.
  await removePrivateFile(directory.chain);
  await removePrivateFile(directory.nextCredential);
  await writeCredential(directory.credential, { secret, generation: 1, address });
  await removePrivateFile(directory.enrolling);
  await removePrivateFile(directory.revoked);

  // A daemon that is only just starting or ending cannot be told, and need not be: the next start reads the credential.
  const reloaded = await new LocalDaemon(directory).reload().catch((error: unknown) => {
    if (error instanceof DaemonBusy) return null;
    throw error;
  });
  const named = machine.name === null ? machine.id : `${machine.name} (${machine.id})`;
  process.stdout.write(
    `Enrolled as ${printable(named)}.\n${reloaded ? 'The running agent checks in with it now.' : 'Start the agent: rollcall-agent start'}\n`,
  );
  return EXIT.ok;
};
