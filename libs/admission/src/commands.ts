/** `TokenIssued` is all that happens to a token's own stream; its redemption is a claim that the new machine's stream takes. */
export type IssueToken = {
  readonly type: 'IssueToken';
  readonly tokenHash: string;
  readonly owner: string;
  readonly name: string | null;
  /** The node that is to get its next machine; left out for a node not seen before (N19). */
  readonly node?: string;
  /** Seconds, 60 to 86,400. */
  readonly expiresIn: number;
};

/** Everything that can be asked of a token's stream. */
export type TokenCommand = IssueToken;

/** The key that a token's hash is, unique over all tokens; `tokenHash` is SHA-256, hex. */
export const enrolmentTokenKey = (tokenHash: string): string => `enrolment-token:${tokenHash}`;

/** The stream of a token. */
export const tokenStream = (tokenId: string): string => `token-${tokenId}`;
/** The id of the token that a stream is about. */
export const tokenIdOf = (stream: string): string => stream.slice('token-'.length);
