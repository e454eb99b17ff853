import type { Verdict } from './verify.js';

/** How many offenders are named per invariant; the count says how many there are. */
export const NAMED = 10;

/** The verdict for people: one line per invariant, and the first offenders below it. */
export const table = ({ holds, newestBatch, findings }: Verdict): string =>
  [
    `The record up to batch ${newestBatch}`,
    ...findings.flatMap(({ id, promise, examined, broken }) => [
      `${id.padEnd(3)} ${broken.length === 0 ? 'holds ' : 'BROKEN'} ${String(examined).padStart(10)}  ${promise}`,
      ...broken.slice(0, NAMED).map((sentence) => `      - ${sentence}`),
      ...(broken.length > NAMED ? [`      - and ${broken.length - NAMED} more`] : []),
    ]),
    holds
      ? 'Everything holds.'
      : `Broken: ${findings.flatMap(({ id, broken }) => (broken.length > 0 ? [id] : [])).join(', ')}.`,
    '',
  ].join('\n');

/** The verdict for scripts. */
export const json = ({ holds, newestBatch, findings }: Verdict): string =>
  `${JSON.stringify({
    holds,
    newestBatch,
    invariants: findings.map(({ id, promise, examined, broken }) => ({
      id,
      promise,
      examined,
      broken: broken.length,
      offenders: broken.slice(0, NAMED),
    })),
  })}\n`;
