import { Readable, Writable } from 'node:stream';
import type { Surroundings } from '../context.js';
import type { Screen } from '../output/output.js';

/** Surroundings that keep what was printed. */
export type Captured = Surroundings & {
  readonly printed: { out: string; err: string };
  readonly interrupt: () => void;
};

/** Stands in for a process: no terminal unless told, nothing on standard input, no waiting between two looks. */
export const captured = (
  options: {
    readonly env?: Record<string, string>;
    readonly stdin?: string;
    readonly terminal?: boolean;
    readonly pause?: Surroundings['pause'];
  } = {},
): Captured => {
  const printed = { out: '', err: '' };
  const interruption = new AbortController();
  const screen = (name: 'out' | 'err'): Screen =>
    Object.assign(
      new Writable({
        write: (chunk, _encoding, done) => {
          printed[name] += String(chunk);
          done();
        },
      }),
      { isTTY: options.terminal === true },
    );
  return {
    printed,
    interrupt: () => interruption.abort(),
    stdin: Object.assign(Readable.from(options.stdin === undefined ? [] : [options.stdin]), {
      isTTY: options.terminal === true,
    }),
    stdout: screen('out'),
    stderr: screen('err'),
    env: options.env ?? {},
    signal: interruption.signal,
    pause: options.pause ?? (() => Promise.resolve()),
  };
};
