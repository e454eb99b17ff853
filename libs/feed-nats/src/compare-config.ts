import { isDeepStrictEqual } from 'node:util';

/** Settings by name: what was asked for, or what a server says that it has. */
export type Config = object;

/**
 * What differs between settings as they must be and as the server has them: one sentence for each, none when they agree.
 *
 * Only what is named in `expected` is compared. A server that does not know a setting leaves it out and says nothing; so does one that
 * leaves out what is empty. A setting that is absent is the same as false, 0, an empty text or undefined, and differs from anything else.
 */
export const compareConfig = (subject: string, expected: Config, actual: Config): readonly string[] => {
  const found = new Map<string, unknown>(Object.entries(actual));
  return Object.entries(expected).flatMap(([name, wanted]) =>
    isDeepStrictEqual(found.get(name) || undefined, wanted || undefined)
      ? []
      : [`${name} of ${subject} is ${inWords(found.get(name))}, and should be ${inWords(wanted)}`],
  );
};

const inWords = (value: unknown): string => (value === undefined ? 'not set' : JSON.stringify(value));
