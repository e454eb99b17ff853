import { type Decider, type Instant, instantOf, Refusal, timestampOf } from '@rollcall/decider';
import { admissionKey, enrolmentTokenKey, type TokenCommand } from './commands.js';
import type { TokenEvent } from './facts.js';

/** The least and the greatest number of seconds that a token lives. */
export const TOKEN_LIFE_SECONDS = { least: 60, greatest: 86_400 } as const;

/** What is known of one enrolment token; null before it is issued. */
export type TokenState = {
  readonly tokenHash: string;
  readonly expiresAt: string;
  readonly owner: string;
  readonly name: string | null;
  /** Absent on heads that were folded before there were tokens of nodes, and for a node not seen before. */
  readonly node?: string;
  readonly preadmits?: true;
  readonly withdrawn?: true;
} | null;

/**
 * An enrolment token is issued once, expires or is withdrawn, and is redeemed by a claim of the machine that joins with it (N20). So is a credential
 * that was registered before its machine was there.
 */
export const token: Decider<TokenState, TokenCommand, TokenEvent> = {
  fold: 1,

  initial: () => null,

  decide(state, command, { now }): readonly TokenEvent[] {
    if (command.type === 'WithdrawToken') {
      if (!state) throw new Refusal('token-not-found');
      return state.withdrawn ? [] : [{ type: 'TokenWithdrawn', token: command.token }];
    }
    const { tokenHash, owner, name, node, preadmits, session, expiresIn } = command;
    if (state) {
      if (state.tokenHash !== tokenHash) throw new Refusal('token-refused');
      return [];
    }
    const { least, greatest } = TOKEN_LIFE_SECONDS;
    if (!Number.isSafeInteger(expiresIn) || expiresIn < least || expiresIn > greatest) {
      const message = `must be a whole number of seconds from ${least} to ${greatest}`;
      throw new Refusal('invalid-body', { errors: [{ field: 'expiresIn', message }] });
    }
    const expiresAt = timestampOf(now + expiresIn * 1000);
    return [
      {
        type: 'TokenIssued',
        tokenHash,
        expiresAt,
        owner,
        name,
        ...(node === undefined ? {} : { node }),
        ...(preadmits ? { preadmits } : {}),
        ...(session === undefined ? {} : { session }),
      },
    ];
  },

  evolve(state, fact) {
    switch (fact.type) {
      case 'TokenIssued': {
        const { type: _, session: _said, ...issued } = fact;
        return issued;
      }
      case 'TokenWithdrawn':
        return state && { ...state, withdrawn: true };
      default:
        return state;
    }
  },

  claims(fact) {
    switch (fact.type) {
      case 'TokenIssued':
        return [{ op: 'take', key: enrolmentTokenKey(fact.tokenHash) }];
      case 'TokenWithdrawn':
        return [{ op: 'take', key: admissionKey(fact.token) }];
      default:
        return [];
    }
  },
};

/** A token as the rule that admits a machine wants it; expiry is compared there, at the record's time. */
export type IssuedToken = {
  readonly id: string;
  readonly expiresAt: Instant;
  readonly owner: string;
  readonly name: string | null;
  /** The node that gets its next machine with it; null for a node not seen before. */
  readonly node: string | null;
  /** It is the credential itself; left out for a token. */
  readonly via?: 'preadmission';
};

/** What a token's stream says of it; null for a token that nobody issued, or that was withdrawn. */
export const issuedToken = (id: string, state: TokenState): IssuedToken | null =>
  state === null || state.withdrawn
    ? null
    : {
        id,
        expiresAt: instantOf(state.expiresAt),
        owner: state.owner,
        name: state.name,
        node: state.node ?? null,
        ...(state.preadmits ? { via: 'preadmission' } : {}),
      };
