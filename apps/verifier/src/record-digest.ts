import { createHash } from 'node:crypto';
import type { Subject } from './finding.js';

const PAGE = 100n;
const LEAST = -(2n ** 63n);

/**
 * The canonical dump of some batches: each batch, its events by position, its check-ins by machine and revision, each row with all of its
 * columns. Columns are named, so that one that is added later changes no earlier dump.
 */
const LINES = `
  select line from (
    select number as batch, 0 as kind, '' as machine, 0::bigint as place,
      'batch ' || row(number, recorded_at, events, checks)::text as line
    from batch where number > $1::bigint and number <= $2::bigint
    union all
    select batch, 1, '', position,
      'event ' || row(position, batch, stream, revision, command_id, ordinal, event_id, type, at, actor, body, trace)::text
    from event where batch > $1::bigint and batch <= $2::bigint
    union all
    select batch, 2, machine::text, revision,
      'check-in ' || row(recorded_at, batch, machine, check_id, revision, generation, boot_counter, boot_id, sequence, said,
        interval_seconds, window_seconds)::text
    from check_in where batch > $1::bigint and batch <= $2::bigint
  ) dump order by batch, kind, machine collate "C", place, line collate "C"`;

/**
 * The SHA-256 (hex) of the canonical dump of the record up to each of these batches, in one pass; a page of batches is in memory at a time.
 * A dump is only ever added to, so the digest of a prefix stays the same for good.
 */
export const digestsAt = async (
  rows: Subject['rows'],
  numbers: readonly bigint[],
): Promise<ReadonlyMap<bigint, string>> => {
  const digests = new Map<bigint, string>();
  const hash = createHash('sha256');
  let at = 0n;
  for (const wanted of [...new Set(numbers)].sort((a, b) => (a < b ? -1 : 1))) {
    while (at < wanted) {
      const until = at + PAGE < wanted ? at + PAGE : wanted;
      // What claims to be of a batch before the first is dumped with the first.
      for (const { line } of await rows<{ line: string }>(LINES, [String(at === 0n ? LEAST : at), String(until)]))
        hash.update(`${Buffer.byteLength(line)} ${line}\n`);
      at = until;
    }
    digests.set(wanted, hash.copy().digest('hex'));
  }
  return digests;
};
