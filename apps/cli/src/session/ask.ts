import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { addAbortSignal } from 'node:stream';
import type { Surroundings } from '../context.js';
import { EXIT, Failure, Interrupted } from '../failure.js';

const LONGEST_INPUT = 16_384;

/**
 * Reads one line that must not be seen: typed or pasted at a terminal without an echo, or all of standard input where that is a pipe.
 *
 * @param mayBeNothing at a terminal an empty line is an answer as well
 * @throws Interrupted on Ctrl-C, and Failure where there is nothing.
 */
export const askSecret = async (
  question: string,
  surroundings: Surroundings,
  mayBeNothing = false,
): Promise<string> => {
  const { isTTY = false } = surroundings.stdin;
  const text = isTTY ? await readHiddenLine(question, surroundings) : await readAll(surroundings);
  if (text.trim() === '' && !(isTTY && mayBeNothing))
    throw new Failure('Nothing was given on standard input.', EXIT.usage);
  return text.trim();
};

/** Asks a question whose only "yes" is `yes`. Only at a terminal. @throws Interrupted on Ctrl-C. */
export const askYes = async (question: string, { stdin, stderr, signal }: Surroundings): Promise<boolean> => {
  // Not as a terminal: the line discipline stays in charge, so Ctrl-C arrives as the signal that everything else listens to.
  const lines = createInterface({ input: stdin, output: stderr, terminal: false });
  try {
    // Input that ends without an answer (Ctrl-D) is no answer; `question` alone would wait for ever.
    const silence = once(lines, 'close').then(() => '');
    const answer = await Promise.race([lines.question(question, { signal }), silence]);
    return answer.trim().toLowerCase() === 'yes';
  } catch (cause) {
    throw new Interrupted('interrupted', { cause });
  } finally {
    lines.close();
  }
};

const readAll = async ({ stdin, signal }: Surroundings): Promise<string> => {
  let text = '';
  try {
    for await (const chunk of addAbortSignal(signal, stdin)) {
      text += String(chunk);
      if (text.length > LONGEST_INPUT)
        throw new Failure('There is too much on standard input for one link.', EXIT.usage);
    }
  } catch (cause) {
    if (signal.aborted) throw new Interrupted('interrupted', { cause });
    throw cause;
  }
  return text;
};

const readHiddenLine = (question: string, { stdin, stderr, signal }: Surroundings): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = '';
    const finish = (settle: () => void): void => {
      stdin.off('data', onData).off('end', onEnd);
      signal.removeEventListener('abort', onAbort);
      stdin.setRawMode?.(false);
      stdin.pause();
      stderr.write('\n');
      settle();
    };
    const onEnd = (): void => finish(() => resolve(text));
    const onAbort = (): void => finish(() => reject(new Interrupted('interrupted')));
    const onData = (chunk: Buffer | string): void => {
      for (const key of String(chunk)) {
        if (key === '\r' || key === '\n' || key === '\u0004') return finish(() => resolve(text));
        // A raw terminal hands Ctrl-C over as a character.
        if (key === '\u0003') return onAbort();
        if (key === '\u007f' || key === '\b') text = text.slice(0, -1);
        else if (text.length < LONGEST_INPUT) text += key;
      }
    };
    if (signal.aborted) return reject(new Interrupted('interrupted'));
    stderr.write(question);
    stdin.setRawMode?.(true);
    stdin.on('data', onData).once('end', onEnd);
    signal.addEventListener('abort', onAbort);
    stdin.resume();
  });
