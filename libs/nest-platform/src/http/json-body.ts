import { Refusal } from '@rollcall/decider';
import type { FastifyInstance } from 'fastify';
import { isUtf8 } from 'node:buffer';
import type { HttpLimits } from './limits.js';

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Whether a JSON text nests deeper than a limit. Looks at brackets outside strings; says nothing about anything else. */
export const nestsDeeperThan = (text: string, limit: number): boolean => {
  let depth = 0;
  let inString = false;
  // Numbers and not characters: each body of each check passes here.
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (inString) {
      if (code === BACKSLASH) index += 1;
      else if (code === QUOTE) inString = false;
    } else if (code === QUOTE) inString = true;
    else if (code === OPEN_ARRAY || code === OPEN_OBJECT) {
      depth += 1;
      if (depth > limit) return true;
    } else if (code === CLOSE_ARRAY || code === CLOSE_OBJECT) depth -= 1;
  }
  return false;
};

/** The text of a body. @throws Refusal `malformed-body` where the bytes are not UTF-8. */
export const textOf = (body: Buffer): string => {
  if (!isUtf8(body)) throw new Refusal('malformed-body', { detail: 'The body is not valid UTF-8.' });
  return body.toString('utf8');
};

/**
 * Takes JSON and nothing else as a request's body: valid UTF-8, of limited size and depth, and with `__proto__` and `constructor`
 * keys dropped, so that no body reaches a prototype.
 */
export const acceptJsonOnly = (instance: FastifyInstance, limits: HttpLimits): void => {
  const parse = instance.getDefaultJsonParser('remove', 'remove');
  instance.removeAllContentTypeParsers();
  instance.addContentTypeParser<Buffer>(
    'application/json',
    { parseAs: 'buffer', bodyLimit: limits.bodyBytes },
    (request, body, done) => {
      try {
        const text = textOf(body);
        if (nestsDeeperThan(text, limits.bodyDepth))
          throw new Refusal('malformed-body', { detail: `The body nests deeper than ${limits.bodyDepth} levels.` });
        void parse(request, text, done);
      } catch (error) {
        done(error as Error);
      }
    },
  );
};
