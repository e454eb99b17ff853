import type { Finding, Invariant } from '../finding.js';

/** I8: one line of generations per machine, and none of them found by anything but its own use (O19). */
export const generations: Invariant = {
  id: 'I8',
  promise:
    'a machine has at most one current and one pending generation, their numbers only grow, each is promoted by its own use, and no check comes by another one',
  judge: async ({ rows }): Promise<Finding> => {
    const [count] = await rows<{ count: string }>(`select count(*)::text as count from event where type = any($1)`, [
      TYPES,
    ]);
    const sentences = [
      ...(await rows<{ sentence: string }>(OUT_OF_LINE, [TYPES])),
      ...(await rows<{ sentence: string }>(NOT_BY_ITS_OWN_USE)),
      ...(await rows<{ sentence: string }>(CHECKED_BY_ANOTHER)),
    ];
    return { examined: Number(count?.count ?? 0), broken: sentences.map(({ sentence }) => sentence) };
  },
};

const TYPES = ['GenerationRegistered', 'GenerationConfirmed', 'PendingVoided'];

/** Each line with the one before it: what is registered is the next number, and what is confirmed or voided is what was registered last. */
const OUT_OF_LINE = `
  with line as (
    select stream, revision, type, generation, lag(type) over machine as before,
      coalesce(max(generation) filter (where type = 'GenerationRegistered') over (machine rows between unbounded preceding and 1 preceding), 0) as highest
    from (
      select stream, revision, type, (body::jsonb ->> 'generation')::bigint as generation from event where type = any($1)
    ) e window machine as (partition by stream order by revision)
  )
  select format('%s has %s of generation %s at revision %s, after %s and with %s the highest', stream, type, generation, revision,
    coalesce(before, 'nothing'), highest) as sentence
  from line
  where (type = 'GenerationRegistered' and generation <> highest + 1)
    or (type <> 'GenerationRegistered' and (generation <> highest or before is distinct from 'GenerationRegistered'))`;

/** A confirmation stands in one batch with what it was used for: a check by that generation, or an upload. */
const NOT_BY_ITS_OWN_USE = `
  select format('%s confirmed generation %s at revision %s, and nothing in its batch used it', e.stream, e.body::jsonb ->> 'generation', e.revision) as sentence
  from event e where e.type = 'GenerationConfirmed'
    and not exists (select from check_in c where c.batch = e.batch and c.machine = substr(e.stream, 9)::uuid
      and c.revision > e.revision and c.generation = (e.body::jsonb ->> 'generation')::integer)
    and not exists (select from event u where u.batch = e.batch and u.stream = e.stream and u.type = 'LogTailReceived' and u.revision > e.revision)`;

/** A check is by the generation that was confirmed last. */
const CHECKED_BY_ANOTHER = `
  with confirmed as (
    select stream, revision, (body::jsonb ->> 'generation')::integer as generation,
      lead(revision) over (partition by stream order by revision) as until
    from event where type = 'GenerationConfirmed'
  )
  select format('%s has %s checks by generation %s while %s is the current one, the first at revision %s', k.stream, count(*), c.generation, k.generation, min(c.revision)) as sentence
  from confirmed k join check_in c on c.machine = substr(k.stream, 9)::uuid and c.revision > k.revision and (k.until is null or c.revision < k.until)
  where c.generation <> k.generation
  group by k.stream, k.generation, c.generation`;
