import { DeadlineExceeded, withDeadline, type Clock } from '@rollcall/lifetimes';
import { takeOwnership, type Ownership } from '@rollcall/local-control';
import { TransportError } from '@rollcall/pinned-https';
import { hashOf, makeSecret } from '@rollcall/wire';
import type { Key } from '../check/enrolment.js';
import { readCredential, writeCredential, type CredentialReading } from '../installation/credential-file.js';
import type { StateDirectory } from '../installation/state-directory.js';
import type { Plane } from '../plane/plane.js';
import { rotationVerdictOn } from './rotation-verdict.js';

/** For one registration, from the first packet to the last byte of the answer. */
const REGISTER_DEADLINE = 10_000;
/** Another process that rotates is waited for as long as its own calls may take. */
const LOCK_PATIENCE = 30_000;
const LOCK_EVERY = 50;

/** What a rotation works on. */
export type RotationOptions = {
  readonly directory: Pick<StateDirectory, 'credential' | 'nextCredential' | 'rotationLock'>;
  readonly plane: Plane;
  /** What the caller has read, or checks in with. Where the file holds another one by now, somebody else was quicker. */
  readonly inUse: Key;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Told of each step that is behind it. (Default: nobody listens) */
  readonly reached?: Reached;
  /** Puts a key in a file, durably, and throws where it cannot. (Default: `writeCredential`) */
  readonly store?: (path: string, key: Key) => Promise<void>;
};

/**
 * The lock is held; the next secret is kept; its hash is registered; its file says the plane's number; a check with it has succeeded; it is in
 * the place of the one before. The first four are steps of `rotate`, the others of whoever keeps what checks have told.
 */
export type RotationStep = 'begun' | 'stored' | 'registered' | 'numbered' | 'used' | 'placed';

/** Told of a step, and of the next generation's number, as far as it is known by then. For tests that end a process there. */
export type Reached = (step: RotationStep, generation: number) => void;

/** How a rotation ended. Whatever it was, the key in use is where it was, and goes on counting until another one has succeeded. */
export type RotationEnd =
  /** This key is kept in `credential.next` and registered: its first success makes it the one. */
  | { readonly kind: 'registered'; readonly key: Key }
  /** Somebody else has rotated meanwhile: what the file holds now counts. */
  | { readonly kind: 'overtaken' }
  /** The next secret could not be kept, so it was not registered (I11). */
  | { readonly kind: 'not-stored'; readonly why: string }
  /** No answer, another process that does not come to an end, or not the plane's answer: to be tried again, with the same secret. */
  | { readonly kind: 'lost'; readonly why: string }
  | { readonly kind: 'refused'; readonly code: string };

/** The same for whoever asked over the local socket: the number of the new key, never the key. */
export type ToldRotation =
  Exclude<RotationEnd, { readonly kind: 'registered' }> | { readonly kind: 'registered'; readonly generation: number };

/** Leaves the secret out. */
export const toldRotation = (end: RotationEnd): ToldRotation =>
  end.kind === 'registered' ? { kind: end.kind, generation: end.key.generation } : end;

/**
 * Makes the next secret, keeps it, and registers its hash with the credential in use, in this order: so wherever it is cut off, the next start
 * finds either nothing or a secret whose registration may be repeated (O19). A kept one from before is taken up again, so any number of
 * callers register one hash (C05). Nothing is put in the place of the credential here: that is done after a first success.
 */
export const rotate = async (options: RotationOptions): Promise<RotationEnd> => {
  const { directory, clock, signal } = options;
  let lock: Ownership | null;
  try {
    lock = await lockOf(directory.rotationLock, clock, signal);
  } catch (error) {
    // The lock is a file in the same place: where that cannot be written, neither can the next secret.
    return { kind: 'not-stored', why: (error as Error).message };
  }
  if (!lock) return { kind: 'lost', why: 'another rotation is under way' };
  try {
    return await underLock(options);
  } finally {
    await lock.release();
  }
};

const lockOf = async (path: string, clock: Clock, signal: AbortSignal): Promise<Ownership | null> => {
  const end = clock.monotonic() + LOCK_PATIENCE;
  for (;;) {
    const lock = await takeOwnership(path, null);
    if (lock || signal.aborted || clock.monotonic() >= end) return lock;
    await clock.sleep(LOCK_EVERY, signal);
  }
};

const underLock = async (options: RotationOptions): Promise<RotationEnd> => {
  const { directory, inUse, reached = () => undefined, store = writeCredential } = options;
  reached('begun', inUse.generation + 1);
  if (!(await isStill(directory.credential, inUse))) return { kind: 'overtaken' };
  let next = begunIn(await readCredential(directory.nextCredential), inUse) ?? newKey(inUse);
  for (const isLastTry of [false, true]) {
    // Also one from before is written again: nobody knows whether its name has become durable.
    const why = await kept(store, directory.nextCredential, next);
    if (why !== null) return { kind: 'not-stored', why };
    reached('stored', next.generation);
    const end = await register(options, next);
    // It was void before it was ever used: the plane goes on with the key in use, so nothing is lost with this one.
    if (end.kind === 'refused' && end.code === 'hash-registered-before' && !isLastTry) next = newKey(inUse);
    else return end;
  }
  throw new Error('A rotation has two tries');
};

const register = async (options: RotationOptions, next: Key): Promise<RotationEnd> => {
  const { directory, plane, inUse, clock, signal, reached = () => undefined, store = writeCredential } = options;
  const request = { credentialHash: hashOf(next.secret) };
  let generation: number;
  try {
    const answer = await withDeadline(
      clock,
      REGISTER_DEADLINE,
      (until) => plane.startRotation(request, inUse.secret, until),
      signal,
    );
    const verdict = rotationVerdictOn(answer);
    if (verdict.kind === 'refused') {
      if (!(await isStill(directory.credential, inUse))) return { kind: 'overtaken' };
      return verdict.code === 'not-ours' ? { kind: 'lost', why: 'not the plane has answered' } : verdict;
    }
    ({ generation } = verdict);
  } catch (error) {
    if (error instanceof TransportError || error instanceof DeadlineExceeded)
      return { kind: 'lost', why: error.message };
    throw error;
  }
  reached('registered', generation);
  const key = { ...next, generation };
  // The number is for people, and for telling an older file from a newer one: without it the guess does as well.
  if (generation > inUse.generation && generation !== next.generation) await kept(store, directory.nextCredential, key);
  reached('numbered', generation);
  return { kind: 'registered', key };
};

const isStill = async (path: string, key: Key): Promise<boolean> => {
  const reading = await readCredential(path);
  return reading.state === 'whole' && reading.key.secret === key.secret;
};

/** The secret of a rotation that was cut off; null where there is none for this plane that is newer than the key in use. */
const begunIn = (reading: CredentialReading, inUse: Key): Key | null =>
  reading.state === 'whole' && reading.key.generation > inUse.generation && reading.key.address === inUse.address
    ? reading.key
    : null;

const newKey = ({ generation, address }: Key): Key => ({
  secret: makeSecret('rcm'),
  // A guess, until the plane says it: higher than that of the key in use, because of two files the higher one is tried first.
  generation: generation + 1,
  address,
});

/**
 * Keeps a key, durably; why not, where that failed. A directory that cannot be synced leaves the new content in place all the same: it is not
 * registered then, and the next try finds it.
 */
const kept = async (store: NonNullable<RotationOptions['store']>, path: string, key: Key): Promise<string | null> => {
  try {
    await store(path, key);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
};
