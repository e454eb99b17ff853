import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { FRESH_SECONDS } from '@rollcall/authorisation';
import { readAnswers } from './answers.js';
import { SESSION_LIFE_SECONDS } from '@rollcall/person';
import { readDigest, saveDigest } from './digest-file.js';
import { embeddedDatabase } from './embedded-plane.js';
import { json, table } from './report.js';
import { verify } from './verify.js';

/** Everything holds; something is broken; it could not be judged. */
export const EXIT = { holds: 0, broken: 1, unjudged: 2 } as const;

const USAGE = `Usage: rollcall-verify [--json] [--answers FILE.jsonl] [--earlier FILE]… [--save-digest FILE] [--gap-seconds N]
                       [--fresh-seconds N] DATABASE_URL | --data DIR

Judges the record of a plane, also while it runs. FILE.jsonl holds what callers were answered with success, one object per line:
{"checkId" | "commandId", "revision", "batch"}. --save-digest writes down what the record is now, and --earlier compares it with what was
written down before; with the same file for both, each run judges everything since the last. The number beside each promise says how many
things were looked at. Exit code: 0 everything holds, 1 something is broken, 2 it could not be judged.
`;

/** @throws Error for anything but a number above zero: compared with what is none, no gap would ever be too long. */
const secondsOf = (option: string, text: string): number => {
  const seconds = Number(text);
  if (!(seconds > 0 && seconds < Infinity)) throw new Error(`--${option} is no number of seconds: ${text}`);
  return seconds;
};

/** Runs one command line (without `node` and the script). Never rejects. */
export const run = async (
  argv: readonly string[],
  { out, err }: { out(text: string): void; err(text: string): void },
): Promise<number> => {
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        json: { type: 'boolean', default: false },
        answers: { type: 'string' },
        earlier: { type: 'string', multiple: true, default: [] },
        'save-digest': { type: 'string' },
        data: { type: 'string' },
        'gap-seconds': { type: 'string', default: '15' },
        // `npm start` lets a session be fresh for as long as it lives.
        'fresh-seconds': { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    const [url] = positionals;
    if (values.help || (url === undefined) === (values.data === undefined)) {
      (values.help ? out : err)(USAGE);
      return values.help ? EXIT.holds : EXIT.unjudged;
    }
    const verdict = await verify({
      connectionString: url ?? (await embeddedDatabase(values.data ?? '')),
      answers: values.answers === undefined ? [] : readAnswers(await readFile(values.answers, 'utf8')),
      earlier: await Promise.all(values.earlier.map(readDigest)),
      gapSeconds: secondsOf('gap-seconds', values['gap-seconds']),
      freshSeconds: secondsOf(
        'fresh-seconds',
        values['fresh-seconds'] ?? String(url === undefined ? SESSION_LIFE_SECONDS : FRESH_SECONDS),
      ),
    });
    out(values.json ? json(verdict) : table(verdict));
    const file = values['save-digest'];
    const isUnchanged = verdict.findings.every(({ id, broken }) => id !== 'I5' || broken.length === 0);
    if (file !== undefined && isUnchanged) await saveDigest(file, verdict.digest);
    // The digest of a record that was changed would make the change good.
    else if (file !== undefined) err(`rollcall-verify: no digest was written to ${file}, because I5 is broken\n`);
    return verdict.holds ? EXIT.holds : EXIT.broken;
  } catch (error) {
    err(`rollcall-verify: ${error instanceof Error ? error.message : String(error)}\n`);
    return EXIT.unjudged;
  }
};
