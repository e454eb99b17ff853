/** What an automation token can be made for. None of these admits a machine, approves, issues a token, rotates or deletes (O3). */
export const SCOPES = ['presence:read', 'readiness:read', 'audit:read', 'webhooks:manage'] as const;

/** A word of the closed list. */
export type Scope = (typeof SCOPES)[number];

/** Whether a word is one of ours. */
export const isScope = (word: string): word is Scope => (SCOPES as readonly string[]).includes(word);
