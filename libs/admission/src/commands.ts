/** `TokenIssued` is all that happens to a token's own stream; its redemption is a claim that the new machine's stream takes. */
export type IssueToken = {
  readonly type: 'IssueToken';
  readonly tokenHash: string;
  readonly owner: string;
  readonly name: string | null;
  /** Seconds, 60 to 86,400. */
  readonly expiresIn: number;
};
export type TokenCommand = IssueToken;

export const enrolmentTokenKey = (tokenHash: string): string => `enrolment-token:${tokenHash}`;
export const tokenStream = (tokenId: string): string => `token-${tokenId}`;
export const tokenIdOf = (stream: string): string => stream.slice('token-'.length);
