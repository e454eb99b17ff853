import { isScope, SCOPES, type Scope } from '@rollcall/authorisation';
import { type Decider, type Instant, instantOf, Refusal, timestampOf } from '@rollcall/decider';
import type { AutomationEvent } from './automation-facts.js';

/** The least and the greatest number of seconds that an automation token lives: a minute and 90 days. */
export const AUTOMATION_LIFE_SECONDS = { least: 60, greatest: 90 * 86_400 } as const;

/** How many tokens of one person can be used at the same time. */
export const MOST_AUTOMATION_TOKENS = 50;

/** A person lets a program act for them, within scopes and for a while. */
export type IssueAutomationToken = {
  readonly type: 'IssueAutomationToken';
  readonly tokenId: string;
  readonly tokenHash: string;
  readonly name: string;
  readonly scopes: readonly string[];
  /** Seconds, 60 to 7,776,000. */
  readonly expiresIn: number;
};
/** A person ends that. */
export type RevokeAutomationToken = { readonly type: 'RevokeAutomationToken'; readonly tokenId: string };
/** All of them end, with the access of the person. */
export type RevokeAutomationTokens = { readonly type: 'RevokeAutomationTokens' };
/** Everything that can be asked of the automation tokens of a person. */
export type AutomationCommand = IssueAutomationToken | RevokeAutomationToken | RevokeAutomationTokens;

/** A token that was not revoked; times are UTC, RFC 3339. */
export type AutomationToken = Omit<Extract<AutomationEvent, { type: 'AutomationTokenIssued' }>, 'type'>;

/** The automation tokens of one person, oldest first. */
export type AutomationState = { readonly tokens: readonly AutomationToken[] };

/** The key that a token's hash is; never released, so nobody else can register it. */
export const automationTokenKey = (tokenHash: string): string => `automation-token:${tokenHash}`;
/** The stream of a person's automation tokens. */
export const automationStream = (personId: string): string => `automation-${personId}`;
/** The id of the person that such a stream is about. */
export const automationOwnerOf = (stream: string): string => stream.slice('automation-'.length);

const isLive = ({ expiresAt }: AutomationToken, now: Instant): boolean => now < instantOf(expiresAt);

/** A person issues tokens with scopes and an end to programs that act for them, and revokes them; one stream per person. */
export const automation: Decider<AutomationState, AutomationCommand, AutomationEvent> = {
  fold: 1,

  initial: () => ({ tokens: [] }),

  decide(state, command, { now }) {
    if (command.type === 'RevokeAutomationTokens') return state.tokens.map(revoked);
    const known = state.tokens.find(({ tokenId }) => tokenId === command.tokenId);
    if (command.type === 'RevokeAutomationToken') {
      if (!known) throw new Refusal('automation-token-not-found');
      return [revoked(known)];
    }
    const { tokenId, tokenHash, name, expiresIn } = command;
    if (known) {
      if (known.tokenHash !== tokenHash) throw wrong('commandId', 'is the id of another command');
      return [];
    }
    if (state.tokens.some((token) => token.tokenHash === tokenHash))
      throw wrong('tokenHash', 'is that of another token');
    const { least, greatest } = AUTOMATION_LIFE_SECONDS;
    if (!Number.isSafeInteger(expiresIn) || expiresIn < least || expiresIn > greatest)
      throw wrong('expiresIn', `must be a whole number of seconds from ${least} to ${greatest}`);
    if (command.scopes.length === 0 || !command.scopes.every(isScope))
      throw wrong('scopes', `must be one or more of ${SCOPES.join(', ')}`);
    if (state.tokens.filter((token) => isLive(token, now)).length >= MOST_AUTOMATION_TOKENS)
      throw new Refusal('too-many-automation-tokens');
    const scopes: readonly Scope[] = SCOPES.filter((scope) => command.scopes.includes(scope));
    const times = { issuedAt: timestampOf(now), expiresAt: timestampOf(now + expiresIn * 1000) };
    return [{ type: 'AutomationTokenIssued', tokenId, tokenHash, name, scopes, ...times }];
  },

  evolve(state, fact) {
    switch (fact.type) {
      case 'AutomationTokenIssued': {
        const { type: _, ...token } = fact;
        // Those that had expired by then are of no use to anybody; so the state stays small.
        const tokens = state.tokens.filter((other) => isLive(other, instantOf(token.issuedAt)));
        return { tokens: [...tokens, token] };
      }
      case 'AutomationTokenRevoked':
        return { tokens: state.tokens.filter(({ tokenId }) => tokenId !== fact.tokenId) };
      default:
        return state;
    }
  },

  claims: (fact) =>
    fact.type === 'AutomationTokenIssued'
      ? [
          { op: 'take', key: automationTokenKey(fact.tokenHash) },
          // Its id is who is recorded, so it is nobody else's.
          { op: 'take', key: `automation-id:${fact.tokenId}` },
        ]
      : [],
};

const revoked = ({ tokenId, tokenHash }: AutomationToken): AutomationEvent => ({
  type: 'AutomationTokenRevoked',
  tokenId,
  tokenHash,
});

const wrong = (field: string, message: string): Refusal =>
  new Refusal('invalid-body', { errors: [{ field, message }] });

/** The token with this hash, if it was neither revoked nor has expired. */
export const liveToken = (state: AutomationState, tokenHash: string, now: Instant): AutomationToken | null =>
  state.tokens.find((token) => token.tokenHash === tokenHash && isLive(token, now)) ?? null;

/** The tokens that can be used, oldest first. */
export const liveTokens = (state: AutomationState, now: Instant): readonly AutomationToken[] =>
  state.tokens.filter((token) => isLive(token, now));
