import { Refusal } from '@rollcall/decider';
import type { FastifyInstance } from 'fastify';
import type { HttpLimits } from './limits.js';

const OPEN = new Set(['[', '{']);
const CLOSE = new Set([']', '}']);

/** Whether a JSON text nests deeper than a limit. Looks at brackets outside strings; says nothing about anything else. */
export const nestsDeeperThan = (text: string, limit: number): boolean => {
  let depth = 0;
  let inString = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charAt(index);
    if (inString) {
      if (character === '\\') index += 1;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (OPEN.has(character)) {
      depth += 1;
      if (depth > limit) return true;
    } else if (CLOSE.has(character)) depth -= 1;
  }
  return false;
};

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The text of a body. @throws Refusal `malformed-body` where the bytes are not UTF-8. */
export const textOf = (body: Buffer): string => {
  try {
    return utf8.decode(body);
  } catch {
    throw new Refusal('malformed-body', { detail: 'The body is not valid UTF-8.' });
  }
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
