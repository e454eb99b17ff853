import type { Scope } from '@rollcall/authorisation';

// Ledger events of the category `automation`, one stream per person. The actor is the person whose tokens these are.

/** A person registered the hash of a token that their CLI made for a program. Takes the keys `automation-token:<hash>` and `automation-id:<id>`. */
export type AutomationTokenIssued = {
  readonly type: 'AutomationTokenIssued';
  readonly tokenId: string;
  readonly tokenHash: string;
  /** What the person calls the program. */
  readonly name: string;
  /** What it may do, each once. */
  readonly scopes: readonly Scope[];
  /** UTC, RFC 3339. */
  readonly issuedAt: string;
  /** At most 90 days later. UTC, RFC 3339. */
  readonly expiresAt: string;
};
/** The token ended before its time. Keeps the key. */
export type AutomationTokenRevoked = {
  readonly type: 'AutomationTokenRevoked';
  readonly tokenId: string;
  readonly tokenHash: string;
};

/** Everything that can happen to the automation tokens of a person. */
export type AutomationEvent = AutomationTokenIssued | AutomationTokenRevoked;
