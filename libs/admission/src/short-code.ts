import { type Instant, instantOf, Refusal } from '@rollcall/decider';

/** Seconds that a short code lives. */
export const CODE_LIFE_SECONDS = 600;

/**
 * The least that an answer about a code takes, in milliseconds: more than what a look-up that finds something takes longer than one that does not.
 * So a code that never existed has one face with the others in time, too (O12).
 */
export const CODE_FLOOR_MS = 50;

/** Consonants alone: no word comes about by chance, and no letter is taken for a digit. 20^8 codes are 2^34.6. */
export const CODE_ALPHABET = 'BCDFGHJKLMNPQRSTVWXZ';
const CODE_LENGTH = 8;
const CODE_FORM = new RegExp(`^[${CODE_ALPHABET}]{${CODE_LENGTH}}$`);

/** Writes a code out of as many random numbers from 0 to 19 as it has letters: `WDJB-MJHT`. */
export const userCodeOf = (numbers: readonly number[]): string => {
  const letters = numbers.slice(0, CODE_LENGTH).map((number) => CODE_ALPHABET.charAt(number % CODE_ALPHABET.length));
  return `${letters.slice(0, 4).join('')}-${letters.slice(4).join('')}`;
};

/** Reads a code as people type it, in any case and with or without the dash; null where it is none. */
export const readUserCode = (typed: string): string | null => {
  const letters = typed.toUpperCase().replace(/[\s-]/g, '');
  return CODE_FORM.test(letters) ? `${letters.slice(0, 4)}-${letters.slice(4)}` : null;
};

/** What every short code has, whatever it lets in: an end, and what came of it; null: nobody has answered yet. */
export type Answerable<Answer> = { readonly expiresAt: string; readonly answer: Answer | null };

/** Whether a person can still answer for a code, or whoever shows it still wait. `now` is a time of the record. */
export const isOpen = <State extends Answerable<unknown>>(
  state: State | null,
  now: Instant,
): state is State & { readonly answer: null } =>
  state !== null && state.answer === null && now < instantOf(state.expiresAt);

/**
 * Whether an answer was given before, so that nothing happens again. A code has one face where it is unknown, over, or answered otherwise (C08).
 *
 * @throws Refusal `code-refused` for all of these
 */
export const isAgain = <Answer>(
  state: Answerable<Answer> | null,
  now: Instant,
  isSame: (answer: Answer) => boolean,
): boolean => {
  if (!state || now >= instantOf(state.expiresAt)) throw new Refusal('code-refused');
  if (state.answer === null) return false;
  if (!isSame(state.answer)) throw new Refusal('code-refused');
  return true;
};
