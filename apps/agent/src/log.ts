import { inspect } from 'node:util';

/** One line per message, for a person and for the service manager's journal. */
export type Log = {
  info(message: string): void;
  warn(message: string): void;
  error(message: string, cause?: unknown): void;
};

/** Secrets have a form of their own. None is ever passed to a log; should one slip into an error's text, it ends here. */
const SECRET = /\b(rc[moael]_)[0-9A-Za-z]{20,}|\b(rollcall1\.)[\w.-]+/g;

/** Writes `<time> <level> <message>` lines; control characters are escaped, so a message stays one line. */
export const lineLog = (write: (line: string) => void, wall: () => number): Log => {
  const line = (level: string, message: string) =>
    write(`${new Date(wall()).toISOString()} ${level} ${printable(message)}\n`);
  return {
    info: (message) => line('info', message),
    warn: (message) => line('warn', message),
    error: (message, cause) =>
      line('error', cause === undefined ? message : `${message}: ${inspect(cause, { breakLength: Infinity })}`),
  };
};

/** A text from outside, for one line of a terminal or a log. */
export const printable = (text: string): string =>
  text
    .replace(SECRET, (_, kind: string | undefined, token: string | undefined) => `${kind ?? token ?? ''}…`)
    // oxlint-disable-next-line no-control-regex -- control characters are what this is about
    .replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, (character) =>
      JSON.stringify(character)
        .slice(1, -1)
        .replace(/^[^\\]$/, '?'),
    );
