import type { ReadStream } from 'node:tty';
import { EXIT, Told } from '../exit-code.js';

const LIMIT = 4_096;
const PIPE_LIMIT_MS = 10_000;
const CONTROL_C = '\u0003';
const CONTROL_D = '\u0004';

/**
 * Reads one line of secret input: from a pipe up to its first line end, at most 4 KiB and ten seconds; at a terminal by a prompt that
 * shows nothing of it.
 *
 * @throws Told
 */
export const readToken = async (input: ReadStream, output: NodeJS.WritableStream): Promise<string> => {
  const line = input.isTTY ? await readHidden(input, output) : await readPipe(input, PIPE_LIMIT_MS);
  const token = line.trim();
  if (token === '') throw new Told(EXIT.usage, 'No enrolment token came on standard input.');
  return token;
};

/** The first line of a stream; all of it where it has no line end. */
export const readPipe = async (input: NodeJS.ReadableStream, limitMs: number): Promise<string> => {
  const late = new Told(EXIT.usage, `No whole line came on standard input within ${limitMs / 1_000} s.`);
  const timer = setTimeout(() => (input as ReadStream).destroy(late), limitMs);
  let text = '';
  try {
    // One byte is one character here: the limit is in bytes, and a token is ASCII.
    input.setEncoding('latin1');
    for await (const chunk of input as AsyncIterable<string>) {
      text += chunk;
      const end = text.indexOf('\n');
      if ((end < 0 ? text.length : end) > LIMIT)
        throw new Told(EXIT.usage, `More than ${LIMIT} bytes came on standard input: that is no token.`);
      if (end >= 0) return text.slice(0, end);
    }
    return text;
  } finally {
    clearTimeout(timer);
  }
};

const readHidden = async (input: ReadStream, output: NodeJS.WritableStream): Promise<string> => {
  output.write('Enrolment token (not shown): ');
  input.setRawMode(true);
  try {
    input.setEncoding('utf8');
    let text = '';
    for await (const chunk of input as AsyncIterable<string>) {
      for (const character of chunk) {
        if (character === '\r' || character === '\n' || character === CONTROL_D) return text;
        if (character === CONTROL_C) throw new Told(130, 'Given up.');
        text = character === '\u007f' || character === '\b' ? text.slice(0, -1) : text + character;
      }
      if (text.length > LIMIT) throw new Told(EXIT.usage, `That is longer than ${LIMIT} bytes: no token.`);
    }
    return text;
  } finally {
    input.setRawMode(false);
    output.write('\n');
  }
};
