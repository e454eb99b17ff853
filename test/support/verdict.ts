import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { QUICK, type ProcessPlane } from './plane.js';

const VERIFY = resolve(import.meta.dirname, '../../dist/apps/verifier/rollcall-verify.mjs');

/**
 * What `npm run verify` finds in a plane that is at rest: the first offenders against each invariant.
 *
 * @param answered ids of checks that were accepted; each has to be there once
 */
export const verdictOn = async (
  plane: ProcessPlane,
  answered: readonly string[],
): Promise<Readonly<Record<string, readonly string[]>>> => {
  const answers = join(plane.directory, 'answers.jsonl');
  await writeFile(answers, answered.map((checkId) => JSON.stringify({ checkId })).join('\n'));
  const gap = String(QUICK.gap);
  const args = [VERIFY, '--json', '--gap-seconds', gap, '--answers', answers, plane.database.url];
  const { stdout, output } = await plane.processes.run('verify', process.execPath, args);
  if (!stdout) throw new Error(output);
  const { invariants } = JSON.parse(stdout) as {
    readonly invariants: readonly { readonly id: string; readonly offenders: readonly string[] }[];
  };
  return Object.fromEntries(invariants.map(({ id, offenders }) => [id, offenders]));
};
