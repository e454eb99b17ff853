import { readPrivateFile, removePrivateFile, UnsafeFile, writePrivateFile } from '@rollcall/secret-file';
import { isSecret } from '@rollcall/wire';
import type { Key } from '../check/enrolment.js';
import type { StateDirectory } from './state-directory.js';

/** What stands under a credential's name. `torn`: no complete credential, as a power cut or a bad disk leaves it. */
export type CredentialReading =
  | { readonly state: 'absent' }
  | { readonly state: 'torn' }
  | { readonly state: 'unusable'; readonly why: string }
  | { readonly state: 'whole'; readonly key: Key };

/** Which credentials to use, in this order. `problem` is for a person and is set exactly when something is there and nothing can be used. */
export type ChosenKeys = {
  readonly keys: readonly Key[];
  readonly problem: string | null;
  readonly removeNext: boolean;
};

/**
 * Chooses between the credential and the pending one (C04): the newest complete one first, the other to fall back on. A torn pending one is
 * removed if there is a whole credential; nothing else ever is.
 */
export const chooseKeys = (live: CredentialReading, next: CredentialReading): ChosenKeys => {
  const removeNext = next.state === 'torn' && live.state === 'whole';
  if (live.state === 'whole' && next.state === 'whole') {
    const superseded = next.key.generation <= live.key.generation || next.key.address !== live.key.address;
    return { keys: superseded ? [live.key] : [next.key, live.key], problem: null, removeNext: false };
  }
  if (live.state === 'whole') return { keys: [live.key], problem: null, removeNext };
  if (next.state === 'whole') return { keys: [next.key], problem: null, removeNext: false };
  const problem = sentenceFor(live) ?? sentenceFor(next);
  return { keys: [], problem, removeNext: false };
};

const sentenceFor = (reading: CredentialReading): string | null => {
  if (reading.state === 'torn')
    return 'credential unreadable: the file is damaged. Nothing was removed. Restore it, or delete this machine at the plane and enrol it again.';
  return reading.state === 'unusable' ? `credential unreadable: ${reading.why}. Nothing was changed.` : null;
};

/** Reads both files, removes a torn pending one, and says what to check in with. */
export const loadKeys = async (directory: StateDirectory): Promise<ChosenKeys> => {
  const [live, next] = await Promise.all([
    readCredential(directory.credential),
    readCredential(directory.nextCredential),
  ]);
  const chosen = chooseKeys(live, next);
  if (chosen.removeNext) await removePrivateFile(directory.nextCredential);
  return chosen;
};

/** Reads what stands under one of the two names; never throws. */
export const readCredential = async (path: string): Promise<CredentialReading> => {
  try {
    const content = await readPrivateFile(path, 4_096);
    if (content === null) return { state: 'absent' };
    const key = parseKey(content.toString('utf8'));
    return key ? { state: 'whole', key } : { state: 'torn' };
  } catch (error) {
    // A disk that fails and a file that others could have written come to the same: it is not used, and a person has to look.
    return { state: 'unusable', why: error instanceof UnsafeFile ? error.message : (error as Error).message };
  }
};

/** Puts a credential in place, durably (O6). */
export const writeCredential = (path: string, { secret, generation, address }: Key): Promise<void> =>
  writePrivateFile(path, `${JSON.stringify({ secret, generation, address })}\n`);

const parseKey = (text: string): Key | null => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null) return null;
  const { secret, generation, address } = value as Record<string, unknown>;
  const isWhole =
    typeof secret === 'string' &&
    isSecret('rcm', secret) &&
    Number.isSafeInteger(generation) &&
    typeof address === 'string' &&
    URL.canParse(address);
  return isWhole ? { secret, generation: generation as number, address } : null;
};
