import type { Answer } from '../answers.js';
import type { Finding, Invariant } from '../finding.js';

type Row = {
  readonly id: string;
  readonly facts: number;
  readonly streams: number;
  readonly revision: number;
  readonly batch: string;
};

const FACTS_OF = {
  check: `select check_id::text as id, count(*)::integer as facts, count(distinct machine)::integer as streams,
      max(revision) as revision, max(batch)::text as batch
    from check_in where check_id = any ($1::uuid[]) group by check_id`,
  // A command may have decided several events; it was carried out once if its first event is there once.
  command: `select command_id::text as id, count(*) filter (where ordinal = 0)::integer as facts, count(distinct stream)::integer as streams,
      max(revision) as revision, max(batch)::text as batch
    from event where command_id = any ($1::uuid[]) group by command_id`,
} as const;

const AT_ONCE = 5_000;

/** I1: nothing that was acknowledged is missing, and nothing is there twice. */
export const answered: Invariant = {
  id: 'I1',
  promise: 'every answered request has exactly one row with its id, in the batch that the answer named',
  judge: async ({ rows, answers }): Promise<Finding> => {
    const broken: string[] = [];
    for (const kind of ['check', 'command'] as const) {
      const ofKind = answers.filter((answer) => answer.kind === kind);
      for (let from = 0; from < ofKind.length; from += AT_ONCE) {
        const some = ofKind.slice(from, from + AT_ONCE);
        const found = await rows<Row>(FACTS_OF[kind], [[...new Set(some.map(({ id }) => id))]]);
        const byId = new Map(found.map((row) => [row.id, row]));
        broken.push(...some.flatMap((answer) => complaint(answer, byId.get(answer.id))));
      }
    }
    return { examined: answers.length, broken };
  },
};

const complaint = ({ kind, id, revision, batch }: Answer, row: Row | undefined): readonly string[] => {
  if (!row) return [`${kind} ${id} was answered, and is not recorded`];
  if (row.facts !== 1 || row.streams !== 1)
    return [`${kind} ${id} was answered, and is recorded ${row.facts} times on ${row.streams} streams`];
  if (batch === null) return [];
  if (row.batch !== batch) return [`${kind} ${id} was answered with batch ${batch}, and is in batch ${row.batch}`];
  if (revision !== null && row.revision !== revision)
    return [`${kind} ${id} was answered with revision ${revision}, and has revision ${row.revision}`];
  return [];
};
