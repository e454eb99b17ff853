import { SystemClock, withDeadline } from '@rollcall/lifetimes';
import { TransportError } from '@rollcall/pinned-https';
import { removePrivateFile } from '@rollcall/secret-file';
import { hashOf, isHttpsOrigin, isPin, type CheckRequest, type CodeAnswer } from '@rollcall/wire';
import { randomBytes, randomUUID } from 'node:crypto';
import { verdictOn } from '../check/verdict.js';
import { EXIT, Told } from '../exit-code.js';
import { keepBoot, nextBoot } from '../installation/boot-counter.js';
import { identifierOf } from '../installation/identifier.js';
import { openStateDirectory, type StateDirectory } from '../installation/state-directory.js';
import { printable } from '../log.js';
import { enrolmentVerdictOn, type Enrolled } from '../plane/enrolment-verdict.js';
import { HttpsPlane } from '../plane/https-plane.js';
import type { PlaneAnswer } from '../plane/plane.js';
import { awaitApproval } from './await-approval.js';
import { becomeMachine, refuseIfEnrolled, secretFor } from './become-machine.js';
import { describeTransport } from './describe-transport.js';
import { portrait } from './run.js';

const DEADLINE_MS = 15_000;

/**
 * `rollcall-agent enrol --code ADDRESS [--pin PIN …]`: shows a short code, and joins the plane once a person has approved it (O12).
 *
 * The secret is made here and kept before its hash is sent. It can be interrupted at any time: what was there before is replaced only by a
 * success, and another run finds the secret again, and with it an approval whose answer was lost.
 */
export const enrolByCode = async (
  directory: StateDirectory,
  { address, pins, replace }: { readonly address: string; readonly pins: readonly string[]; readonly replace: boolean },
): Promise<number> => {
  if (!isHttpsOrigin(address))
    throw new Told(EXIT.usage, 'The address of a plane is an https origin, such as https://plane.example:8443.');
  if (!pins.every(isPin)) throw new Told(EXIT.usage, 'A pin is written as sha256/ and 44 characters.');
  await openStateDirectory(directory);
  const attempt = { address, with: hashOf(`code ${address}`) };
  if (!replace) await refuseIfEnrolled(directory, attempt);
  const { secret, begun } = await secretFor(directory, attempt);

  const clock = new SystemClock();
  const plane = new HttpsPlane(address, pins);
  const interruption = new AbortController();
  const interrupt = () => interruption.abort();
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  const ask = (call: (signal: AbortSignal) => Promise<PlaneAnswer>) =>
    withDeadline(clock, DEADLINE_MS, (signal) => call(AbortSignal.any([signal, interruption.signal])));
  const check = () => admittedAs(directory, secret, (body) => ask((signal) => plane.check(body, secret, signal)));
  try {
    const admitted = (begun ? await check() : null) ?? (await approved());
    // Another device code is another attempt: what was let in is not found again by the next run.
    return await becomeMachine(directory, { address, pins, ...admitted, secret, enrolledWith: hashOf(secret) });
  } catch (error) {
    if (error instanceof TransportError)
      throw new Told(EXIT.unreachable, printable(`${address}: ${describeTransport(error)}.`));
    throw error;
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
    plane.abandonConnections();
  }

  async function approved(): Promise<Enrolled> {
    const request = {
      identifier: await identifierOf(directory.identifier),
      credentialHash: hashOf(secret),
      profile: portrait().report,
    };
    const code = codeIn(await ask((signal) => plane.requestCode(request, signal)), address);
    process.stdout.write(`Code: ${printable(code.userCode)}\n`);
    if (code.verificationAddress !== null)
      process.stderr.write(`A person types it at ${printable(code.verificationAddress)}, or runs what follows.\n`);
    process.stderr.write(
      `A person lets this installation in with: rollcall codes approve ${printable(code.userCode)}\nCtrl-C ends the waiting.\n`,
    );
    const redeem = () =>
      ask((signal) => plane.redeemCode({ deviceCode: code.deviceCode }, signal)).catch((error: unknown) => {
        if (error instanceof TransportError) return null;
        throw error;
      });
    const waiting = (secondsLeft: number) => {
      const left = secondsLeft >= 60 ? `${Math.ceil(secondsLeft / 60)} min` : `${secondsLeft} s`;
      if (process.stderr.isTTY) process.stderr.write(`\rWaiting for a person, ${left} left \u001b[K`);
    };
    const { signal } = interruption;
    try {
      return await awaitApproval({ code, clock, signal, redeem, check, waiting });
    } finally {
      if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');
    }
  }
};

/** The code that was answered. @throws Told where it was none */
const codeIn = (answer: PlaneAnswer, address: string): CodeAnswer => {
  const verdict = enrolmentVerdictOn(answer);
  if (verdict.kind === 'refused') throw new Told(EXIT.refused, printable(verdict.sentence));
  const notOurs = new Told(
    EXIT.unreachable,
    `Something that is not the plane answered at ${address} (status ${answer.status}).`,
  );
  if (answer.status !== 201 || answer.mediaType !== 'application/json') throw notOurs;
  const { userCode, deviceCode, verificationAddress, expiresIn, interval } = JSON.parse(
    answer.body,
  ) as Partial<CodeAnswer>;
  if (typeof userCode !== 'string' || typeof deviceCode !== 'string') throw notOurs;
  return {
    userCode,
    deviceCode,
    verificationAddress: typeof verificationAddress === 'string' ? verificationAddress : null,
    expiresIn: positive(expiresIn, 600),
    interval: positive(interval, 5),
  };
};

const positive = (value: unknown, otherwise: number): number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : otherwise;

/** Checks in with the secret: it was let in, and only the answer was lost. Null where the plane does not know it, or does not any more. */
const admittedAs = async (
  directory: StateDirectory,
  secret: string,
  check: (body: CheckRequest) => Promise<PlaneAnswer>,
): Promise<Enrolled | null> => {
  const counter = await nextBoot(directory.boot);
  await keepBoot(directory.boot, counter);
  const verdict = verdictOn(
    await check({
      boot: { counter, id: randomBytes(4).toString('hex') },
      sequence: 1,
      checkId: randomUUID(),
      chain: null,
      said: 'running',
      blockers: null,
    }),
    Date.now(),
  );
  if (verdict.kind === 'accepted') {
    const { machine, interval } = verdict.answer;
    return { kind: 'enrolled', machine, interval: Number(interval) };
  }
  // Deleted meanwhile: nothing comes of this secret any more, so the next run makes another.
  if (verdict.kind === 'refused' && verdict.code === 'credential-revoked') await removePrivateFile(directory.enrolling);
  return null;
};
