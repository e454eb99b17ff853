import { describe, expect, it } from '@jest/globals';
import { PassThrough } from 'node:stream';
import type { Surroundings } from '../context.js';
import { Interrupted } from '../failure.js';
import { captured } from '../testing/captured.js';
import { askSecret, askYes } from './ask.js';

/** A terminal that somebody types at. */
const typing = () => {
  const raw: boolean[] = [];
  const keys = new PassThrough();
  const stdin = Object.assign(keys, { isTTY: true as const, setRawMode: (on: boolean) => raw.push(on) });
  const surroundings = { ...captured(), stdin } satisfies Surroundings;
  return { surroundings, raw, type: (text: string) => void keys.write(text) };
};

describe('a secret at a terminal', () => {
  it('is read without an echo, and the terminal is put back', async () => {
    const { surroundings, raw, type } = typing();
    const asked = askSecret('Link: ', surroundings);
    type('https://plaX\u007fne');
    type('/sign-in\r');
    expect(await asked).toBe('https://plane/sign-in');
    expect(surroundings.printed).toEqual({ out: '', err: 'Link: \n' });
    expect(raw).toEqual([true, false]);
  });

  it.each([
    ['the key', (terminal: ReturnType<typeof typing>) => terminal.type('abc\u0003')],
    ['the signal', (terminal: ReturnType<typeof typing>) => terminal.surroundings.interrupt()],
  ])('is given up by Ctrl-C as %s, and the terminal is put back', async (_how, interrupt) => {
    const terminal = typing();
    const asked = askSecret('Link: ', terminal.surroundings);
    interrupt(terminal);
    await expect(asked).rejects.toThrow(Interrupted);
    expect(terminal.raw).toEqual([true, false]);
  });
});

describe('a secret in a pipe', () => {
  it('is all of standard input', async () =>
    expect(await askSecret('Link: ', captured({ stdin: 'https://plane/sign-in\n' }))).toBe('https://plane/sign-in'));

  it.each([
    ['nothing', ''],
    ['too much', 'x'.repeat(20_000)],
  ])('is refused when it is %s', async (_what, stdin) =>
    expect(askSecret('Link: ', captured({ stdin }))).rejects.toThrow(/standard input/),
  );
});

describe('a question', () => {
  it.each([
    ['yes\n', true],
    ['Yes\n', true],
    ['y\n', false],
    ['\n', false],
    ['no\n', false],
    ['', false],
  ])('takes %j as %s', async (answer, meaning) =>
    expect(await askYes('Sure? ', captured({ stdin: answer, terminal: true }))).toBe(meaning),
  );

  it('is given up by Ctrl-C', async () => {
    const { surroundings } = typing();
    const asked = askYes('Sure? ', surroundings);
    surroundings.interrupt();
    await expect(asked).rejects.toThrow(Interrupted);
  });
});
