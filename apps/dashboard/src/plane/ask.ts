/** What the plane refused, in its words. */
export class Refused extends Error {
  override readonly name = 'Refused';
  constructor(
    readonly code: string,
    title: string,
    readonly fields: readonly { readonly field: string; readonly message: string }[] = [],
  ) {
    super(title);
  }
}

/** Whether it is this refusal. */
export const isRefused = (error: unknown, code: string): boolean => error instanceof Refused && error.code === code;

let signedOut: () => void = () => undefined;
/** Called whenever an answer says that nobody is signed in here any more. */
export const onSignedOut = (listener: () => void): void => {
  signedOut = listener;
};

/**
 * Asks the plane, as the person who is signed in in this browser.
 *
 * @param byHand says that somebody has touched the page: a session that nobody uses is over after a while (Default: the page asks by itself)
 * @throws Refused with the plane's code; TypeError where nobody answers
 */
export const ask = async <Answer>(
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  path: string,
  {
    body,
    signal,
    byHand = false,
  }: { readonly body?: object; readonly signal?: AbortSignal; readonly byHand?: boolean } = {},
): Promise<Answer> => {
  const response = await fetch(path, {
    method,
    headers: {
      ...(body ? { 'content-type': 'application/json' } : {}),
      ...(method === 'GET' ? {} : { 'x-rollcall-proof': proof() }),
      ...(byHand ? { 'x-rollcall-by-hand': '1' } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
    ...(signal ? { signal } : {}),
  });
  if (response.status === 204) return undefined as Answer;
  const answer = (await response.json()) as Answer & Problem;
  if (response.ok) return answer;
  if (answer.code === 'not-signed-in') signedOut();
  throw new Refused(answer.code, answer.detail ?? answer.title, answer.errors);
};

type Problem = {
  readonly code: string;
  readonly title: string;
  readonly detail?: string;
  readonly errors?: readonly { readonly field: string; readonly message: string }[];
};

/** What only our own page can read, and says again with all that changes something. */
const proof = (): string => /(?:^|; )__Host-rollcall-proof=([^;]*)/.exec(document.cookie)?.[1] ?? '';

/** What a person is told of a failure. */
export const words = (error: unknown): string => {
  if (isRefused(error, 'session-not-fresh'))
    return 'You signed in too long ago for this. Sign out, sign in again, and do it once more.';
  if (error instanceof Refused)
    return [error.message, ...error.fields.map(({ field, message }) => `${field} ${message}`)].join(': ');
  return 'The plane does not answer. It is tried again by itself where you only look; what you wanted to change did not happen for sure.';
};
