import { type Decider, type Instant, instantOf, Refusal, timestampOf } from '@rollcall/decider';
import { type CodeCommand, deviceCodeKey, userCodeKey } from './commands.js';
import type { CodeApproved, CodeEvent, CodeRequested } from './facts.js';

/** Seconds that a short code lives. */
export const CODE_LIFE_SECONDS = 600;

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

/** Who let the installation in, and as what. */
export type CodeApproval = { readonly approvedBy: string; readonly name: string | null; readonly node?: string };

/** What is known of one short code; null before it is asked for. */
export type CodeState =
  | (Omit<CodeRequested, 'type'> & {
      /** What a person said of it; null: nobody yet. */
      readonly answer: CodeApproval | 'refused' | null;
    })
  | null;

/** A short code is asked for by an installation, answered by a person once, and expires (O12). Its pickup is a claim of the machine. */
export const code: Decider<CodeState, CodeCommand, CodeEvent> = {
  fold: 1,

  initial: () => null,

  decide(state, command, { now }): readonly CodeEvent[] {
    if (command.type === 'RequestCode') {
      if (state) throw new Refusal('code-refused');
      const { type: _, ...asked } = command;
      return [{ type: 'CodeRequested', ...asked, expiresAt: timestampOf(now + CODE_LIFE_SECONDS * 1_000) }];
    }
    // One face for what is unknown, over, or answered otherwise.
    if (!state || now >= instantOf(state.expiresAt)) throw new Refusal('code-refused');
    switch (command.type) {
      case 'ApproveCode': {
        const { owner, name, node } = command;
        if (state.answer === null)
          return [{ type: 'CodeApproved', owner, name, ...(node === undefined ? {} : { node }) }];
        if (state.answer === 'refused' || state.answer.approvedBy !== owner) throw new Refusal('code-refused');
        // By now the node may have the machine that the first approval was for, and it would be deleted with this one.
        if (node !== undefined) throw new Refusal('code-refused');
        return [];
      }
      case 'RefuseCode':
        if (state.answer === null) return [{ type: 'CodeRefused' }];
        if (state.answer !== 'refused') throw new Refusal('code-refused');
        return [];
    }
  },

  evolve(state, fact) {
    switch (fact.type) {
      case 'CodeRequested': {
        const { type: _, ...asked } = fact;
        return { ...asked, answer: null };
      }
      case 'CodeApproved':
        return state && { ...state, answer: approvalOf(fact) };
      case 'CodeRefused':
        return state && { ...state, answer: 'refused' };
      default:
        return state;
    }
  },

  claims: (fact) =>
    fact.type === 'CodeRequested'
      ? [
          { op: 'take', key: userCodeKey(fact.userCodeHash) },
          { op: 'take', key: deviceCodeKey(fact.deviceCodeHash) },
        ]
      : [],
};

const approvalOf = ({ owner, name, node }: CodeApproved): CodeApproval => ({
  approvedBy: owner,
  name,
  ...(node === undefined ? {} : { node }),
});

/** Whether a person can still answer for a code, or its machine still wait. `now` is a time of the record. */
export const isOpen = (state: CodeState, now: Instant): state is NonNullable<CodeState> & { readonly answer: null } =>
  state !== null && state.answer === null && now < instantOf(state.expiresAt);
