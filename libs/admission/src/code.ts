import { type Decider, Refusal, timestampOf } from '@rollcall/decider';
import { admissionKey, type CodeCommand, deviceCodeKey, userCodeKey } from './commands.js';
import type { CodeApproved, CodeEvent, CodeRequested } from './facts.js';
import { CODE_LIFE_SECONDS, isAgain } from './short-code.js';

/** Who let the installation in, and as what. */
export type CodeApproval = { readonly approvedBy: string; readonly name: string | null; readonly node?: string };

/** What is known of one short code; null before it is asked for. */
export type CodeState =
  | (Omit<CodeRequested, 'type'> & {
      /** What a person said of it; null: nobody yet. */
      readonly answer: CodeApproval | 'refused' | null;
    })
  | null;

/**
 * A short code is asked for by an installation, answered by a person once, and expires (O12). Its pickup is a claim of the machine; until then the
 * person can take an approval back.
 */
export const code: Decider<CodeState, CodeCommand, CodeEvent> = {
  fold: 1,

  initial: () => null,

  decide(state, command, { now }): readonly CodeEvent[] {
    switch (command.type) {
      case 'RequestCode': {
        if (state) throw new Refusal('code-refused');
        const { type: _, ...asked } = command;
        return [{ type: 'CodeRequested', ...asked, expiresAt: timestampOf(now + CODE_LIFE_SECONDS * 1_000) }];
      }
      case 'ApproveCode': {
        const { type: _, ...approval } = command;
        const { owner, node } = approval;
        // With a node it is said once: by now that may have the machine that the first approval was for, and it would be deleted with this one.
        const isSame = (answer: CodeApproval | 'refused'): boolean =>
          node === undefined && answer !== 'refused' && answer.approvedBy === owner;
        if (isAgain(state, now, isSame)) return [];
        return [{ type: 'CodeApproved', ...approval }];
      }
      case 'WithdrawApproval':
        return isApprovedBy(state, command.by) ? [{ type: 'CodeRefused', withdrawn: command.code }] : [];
      case 'RefuseCode':
        // Until it is picked up, whoever has approved it may think better of it; the pickup is a claim.
        if (isApprovedBy(state, command.by)) return [{ type: 'CodeRefused', withdrawn: command.code }];
        return isAgain(state, now, (answer) => answer === 'refused') ? [] : [{ type: 'CodeRefused' }];
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

  claims(fact) {
    if (fact.type === 'CodeRequested')
      return [
        { op: 'take', key: userCodeKey(fact.userCodeHash) },
        { op: 'take', key: deviceCodeKey(fact.deviceCodeHash) },
      ];
    return fact.type === 'CodeRefused' && fact.withdrawn !== undefined
      ? [{ op: 'take', key: admissionKey(fact.withdrawn) }]
      : [];
  },
};

const isApprovedBy = (state: CodeState, person: string): boolean => {
  const answer = state?.answer ?? 'refused';
  return answer !== 'refused' && answer.approvedBy === person;
};

const approvalOf = ({ owner, name, node }: CodeApproved): CodeApproval => ({
  approvedBy: owner,
  name,
  ...(node === undefined ? {} : { node }),
});
