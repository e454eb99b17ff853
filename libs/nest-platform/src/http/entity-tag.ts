import { createHash } from 'node:crypto';

/**
 * The tag of what an answer says (RFC 9110, 8.8.3). It is weak, because `asOf` has no part in it: that is the age of an answer and moves every
 * few seconds, while what it says may hold for days. Everything else has, so the tag changes exactly when the answer does.
 */
export const entityTagOf = (answer: object): string => {
  const said = JSON.stringify({ ...answer, asOf: undefined });
  return `W/"${createHash('sha256').update(said).digest('base64url')}"`;
};

/** Whether a caller has this answer already, by its `If-None-Match` (RFC 9110, 13.1.2): a list of tags, or `*`; compared weakly. */
export const hasAlready = (ifNoneMatch: string | undefined, tag: string): boolean =>
  ifNoneMatch !== undefined &&
  (ifNoneMatch.trim() === '*' || ifNoneMatch.split(',').some((one) => opaque(one) === opaque(tag)));

const opaque = (tag: string): string => tag.trim().replace(/^W\//, '');
