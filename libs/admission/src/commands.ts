import type { SelfReported } from './facts.js';

/** A token's redemption is a claim that the new machine's stream takes, or its withdrawal. */
export type IssueToken = {
  readonly type: 'IssueToken';
  readonly tokenHash: string;
  readonly owner: string;
  readonly name: string | null;
  /** The node that is to get its next machine; left out for a node not seen before (N19). */
  readonly node?: string;
  /** What was hashed is the credential of the machine to come, not a token for it. */
  readonly preadmits?: true;
  /** The id of the session in which the person says it. */
  readonly session?: string;
  /** Seconds, 60 to 86,400. */
  readonly expiresIn: number;
};

/** Its person takes it back, or makes another one for its node. */
export type WithdrawToken = {
  readonly type: 'WithdrawToken';
  /** Its id. */
  readonly token: string;
};

/** Everything that can be asked of a token's stream. */
export type TokenCommand = IssueToken | WithdrawToken;

/** An installation asks for a short code; hashes are SHA-256, hex. */
export type RequestCode = {
  readonly type: 'RequestCode';
  readonly userCodeHash: string;
  readonly deviceCodeHash: string;
  readonly identifierHash: string;
  /** Of the credential that the installation made: its generation 1, if a person lets it in. */
  readonly keyHash: string;
  /** What it says of itself, cleaned: for whoever answers, and no proof of anything. */
  readonly report: SelfReported;
};

/** A person lets the installation in that shows the code; it is theirs then. */
export type ApproveCode = {
  readonly type: 'ApproveCode';
  readonly owner: string;
  readonly name: string | null;
  /** The node that is to get its next machine; left out for a node not seen before (N19). */
  readonly node?: string;
  /** The id of the session in which the person says it. */
  readonly session?: string;
};

/** A person does not, or takes back what they had said. */
export type RefuseCode = {
  readonly type: 'RefuseCode';
  /** The code's id. */
  readonly code: string;
  /** The person. */
  readonly by: string;
};

/** Takes an approval back because another admission of the node has taken its place; without effect on any other code. */
export type WithdrawApproval = Omit<RefuseCode, 'type'> & { readonly type: 'WithdrawApproval' };

/** Everything that can be asked of a code's stream. */
export type CodeCommand = RequestCode | ApproveCode | RefuseCode | WithdrawApproval;

/** What an admission takes, or the withdrawal of what would admit: `redemptionKey` of `@rollcall/machine`, which stands beside this lib. */
export const admissionKey = (id: string): string => `redemption:${id}`;

/** The key that a short code is, by its hash. */
export const userCodeKey = (hash: string): string => `user-code:${hash}`;

/** The key that a device code is, by its hash. */
export const deviceCodeKey = (hash: string): string => `device-code:${hash}`;

/** The stream of a short code. */
export const codeStream = (codeId: string): string => `code-${codeId}`;
/** The id of the code that a stream is about. */
export const codeIdOf = (stream: string): string => stream.slice('code-'.length);

/** The key that a token's hash is, unique over all tokens; `tokenHash` is SHA-256, hex. */
export const enrolmentTokenKey = (tokenHash: string): string => `enrolment-token:${tokenHash}`;

/** The stream of a token. */
export const tokenStream = (tokenId: string): string => `token-${tokenId}`;
/** The id of the token that a stream is about. */
export const tokenIdOf = (stream: string): string => stream.slice('token-'.length);
