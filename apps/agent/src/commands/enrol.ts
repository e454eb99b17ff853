import { DEFAULT_INTERVAL } from '@rollcall/check-schedule';
import { SystemClock, withDeadline } from '@rollcall/lifetimes';
import { TransportError } from '@rollcall/pinned-https';
import { readPrivateFile, removePrivateFile, writePrivateFile } from '@rollcall/secret-file';
import { decodeEnrolmentToken, hashOf, isSecret, makeSecret, type EnrolmentToken } from '@rollcall/wire';
import { describeTransport } from './describe-transport.js';
import { EXIT, Told } from '../exit-code.js';
import { readCredential, writeCredential } from '../installation/credential-file.js';
import { isKnownRevoked } from '../installation/file-notebook.js';
import { readHomePlane, writeHomePlane } from '../installation/home-plane.js';
import { identifierOf } from '../installation/identifier.js';
import { openStateDirectory, type StateDirectory } from '../installation/state-directory.js';
import { printable } from '../log.js';
import { HttpsPlane } from '../plane/https-plane.js';
import { enrolmentVerdictOn, type Enrolled } from '../plane/enrolment-verdict.js';
import { DaemonBusy, LocalDaemon } from './local-daemon.js';
import { readToken } from './read-token.js';
import { portrait } from './run.js';

const DEADLINE_MS = 15_000;

/**
 * `rollcall-agent enrol`: joins the plane that a token names.
 *
 * The secret is made here and kept before its hash is sent, so that after a lost answer the same token finds the same secret and is answered
 * with the same machine. Nothing is sent before the plane is proven (N3). What was there before is replaced only by a success.
 */
export const enrol = async (directory: StateDirectory, options: { replace?: boolean }): Promise<number> => {
  const token = decode(await readToken(process.stdin, process.stderr));
  await openStateDirectory(directory);
  await refuseIfEnrolled(directory, token, options.replace === true);

  const secret = await secretFor(directory, token);
  const { machine, interval } = await ask(directory, token, secret);
  const wait = Number.isFinite(interval) && interval > 0 ? interval * 1_000 : DEFAULT_INTERVAL;
  await writeHomePlane(directory.home, {
    address: token.address,
    pins: token.pins,
    machine,
    interval: wait,
    enrolledWith: hashOf(token.secret),
  });
  // The chain of an earlier machine means nothing to this one.
  await removePrivateFile(directory.chain);
  await removePrivateFile(directory.nextCredential);
  await writeCredential(directory.credential, { secret, generation: 1, address: token.address });
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

const decode = (text: string): EnrolmentToken => {
  try {
    return decodeEnrolmentToken(text);
  } catch (error) {
    throw new Told(EXIT.usage, (error as Error).message);
  }
};

/** A second token on an installation that works is most likely a mistake. The same one again is not: its answer may have been lost. */
const refuseIfEnrolled = async (directory: StateDirectory, token: EnrolmentToken, replace: boolean): Promise<void> => {
  const reading = await readCredential(directory.credential);
  if (reading.state !== 'whole' || replace) return;
  if (await isKnownRevoked(directory.revoked, reading.key)) return;
  const home = await readHomePlane(directory.home);
  if (home?.enrolledWith === hashOf(token.secret) || home?.address !== reading.key.address) return;
  throw new Told(
    EXIT.alreadyEnrolled,
    `This installation is enrolled already, as ${home.machine.id} at ${home.address}. Delete that machine first, or say --replace.`,
  );
};

/** The secret that goes with this token: the one in use, the one that was made for it earlier, or a new one. */
const secretFor = async (directory: StateDirectory, token: EnrolmentToken): Promise<string> => {
  const tokenHash = hashOf(token.secret);
  const home = await readHomePlane(directory.home);
  const reading = await readCredential(directory.credential);
  if (reading.state === 'whole' && home?.enrolledWith === tokenHash && reading.key.address === token.address)
    return reading.key.secret;
  const begun = parseBegun((await readPrivateFile(directory.enrolling, 4_096))?.toString('utf8') ?? '');
  if (begun?.tokenHash === tokenHash) return begun.secret;
  const secret = makeSecret('rcm');
  await writePrivateFile(directory.enrolling, `${JSON.stringify({ tokenHash, secret })}\n`);
  return secret;
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

const ask = async (directory: StateDirectory, token: EnrolmentToken, secret: string): Promise<Enrolled> => {
  const plane = new HttpsPlane(token.address, token.pins);
  const request = {
    token: token.secret,
    identifier: await identifierOf(directory.identifier),
    credentialHash: hashOf(secret),
    profile: portrait().report,
  };
  try {
    const answer = await withDeadline(new SystemClock(), DEADLINE_MS, (signal) => plane.enrol(request, signal));
    const verdict = enrolmentVerdictOn(answer);
    if (verdict.kind === 'enrolled') return verdict;
    if (verdict.kind === 'refused') throw new Told(EXIT.refused, printable(verdict.sentence));
    throw new Told(
      EXIT.unreachable,
      `Something that is not the plane answered at ${token.address} (status ${answer.status}). Try again with the same token.`,
    );
  } catch (error) {
    if (error instanceof Told) throw error;
    const why = error instanceof TransportError ? describeTransport(error) : (error as Error).message;
    throw new Told(EXIT.unreachable, printable(`${token.address}: ${why}. The token is still good: try again.`));
  } finally {
    plane.abandonConnections();
  }
};
