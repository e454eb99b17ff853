import { SystemClock, withDeadline } from '@rollcall/lifetimes';
import { TransportError } from '@rollcall/pinned-https';
import { decodeEnrolmentToken, hashOf, isSecret, type EnrolmentToken } from '@rollcall/wire';
import { becomeMachine, refuseIfEnrolled, secretFor } from './become-machine.js';
import { describeTransport } from './describe-transport.js';
import { EXIT, Told } from '../exit-code.js';
import { identifierOf } from '../installation/identifier.js';
import { openStateDirectory, type StateDirectory } from '../installation/state-directory.js';
import { printable } from '../log.js';
import { HttpsPlane } from '../plane/https-plane.js';
import { enrolmentVerdictOn, type Enrolled } from '../plane/enrolment-verdict.js';
import { readToken } from './read-token.js';
import { portrait } from './run.js';

const DEADLINE_MS = 15_000;

/**
 * `rollcall-agent enrol`: joins the plane that a token names; or with the credential that a person has registered for this machine, which
 * comes in the same form (`rollcall admit`).
 *
 * The secret is made here and kept before its hash is sent, so that after a lost answer the same token finds the same secret and is answered
 * with the same machine. Nothing is sent before the plane is proven (N3). What was there before is replaced only by a success.
 */
export const enrol = async (
  directory: StateDirectory,
  options: { replace?: boolean; code?: string; pin?: readonly string[] },
): Promise<number> => {
  if (options.code !== undefined) {
    const { enrolByCode } = await import('./enrol-by-code.js');
    return enrolByCode(directory, {
      address: options.code,
      pins: options.pin ?? [],
      replace: options.replace === true,
    });
  }
  const token = decode(await readToken(process.stdin, process.stderr));
  await openStateDirectory(directory);
  if (options.replace !== true)
    await refuseIfEnrolled(directory, { address: token.address, with: hashOf(token.secret) });

  // One that a person has registered is brought again where its answer is lost; one that is made here nobody else has.
  const { secret } = isSecret('rcm', token.secret)
    ? token
    : await secretFor(directory, { address: token.address, with: hashOf(token.secret) });
  const { machine, interval } = await ask(directory, token, secret);
  return becomeMachine(directory, {
    ...token,
    secret,
    machine,
    interval,
    enrolledWith: hashOf(token.secret),
  });
};

const decode = (text: string): EnrolmentToken => {
  try {
    return decodeEnrolmentToken(text);
  } catch (error) {
    throw new Told(EXIT.usage, (error as Error).message);
  }
};

const ask = async (directory: StateDirectory, token: EnrolmentToken, secret: string): Promise<Enrolled> => {
  const plane = new HttpsPlane(token.address, token.pins);
  const who = { identifier: await identifierOf(directory.identifier), profile: portrait().report };
  const join = (signal: AbortSignal) =>
    secret === token.secret
      ? plane.redeemPreadmission(who, secret, signal)
      : plane.enrol({ ...who, token: token.secret, credentialHash: hashOf(secret) }, signal);
  try {
    const answer = await withDeadline(new SystemClock(), DEADLINE_MS, join);
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
