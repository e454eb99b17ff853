import { AUTOMATION_EVENTS, PERSON_ONLY_EVENTS } from '@rollcall/authorisation';
import type { Invariant, Subject } from '../finding.js';

/** What finds sentences; some need what the plane was told. */
type Offenders = string | ((subject: Subject) => { readonly statement: string; readonly values: readonly unknown[] });

/** An invariant that is one count and one list of sentences, both made by the database. */
const byQueries = (id: string, promise: string, examined: string, ...offenders: readonly Offenders[]): Invariant => ({
  id,
  promise,
  judge: async (subject) => {
    const { rows } = subject;
    const [count] = await rows<{ count: string }>(`select (${examined})::text as count`);
    const broken: string[] = [];
    for (const offender of offenders) {
      const { statement, values } =
        typeof offender === 'string' ? { statement: offender, values: [] } : offender(subject);
      broken.push(...(await rows<{ sentence: string }>(statement, values)).map(({ sentence }) => sentence));
    }
    return { examined: Number(count?.count ?? 0), broken };
  },
});

const FACTS = `(
  select stream, revision, batch, type from event
  union all select 'machine-' || machine, revision, batch, 'CheckedIn' from check_in
)`;
const ALL_FACTS = `(select count(*) from event) + (select count(*) from check_in)`;

/** I2: ids are unique, whatever the indexes say. */
export const unique = byQueries(
  'I2',
  'no id occurs twice',
  ALL_FACTS,
  `select format('event id %s occurs %s times', event_id, count(*)) as sentence from event group by event_id having count(*) > 1`,
  `select format('command %s has its event %s %s times on %s', command_id, ordinal, count(*), stream) as sentence
   from event group by stream, command_id, ordinal having count(*) > 1`,
  `select format('check %s occurs %s times', check_id, count(*)) as sentence from check_in group by check_id having count(*) > 1`,
);

/** I3: one dense order, and a time that only goes forward. */
export const dense = byQueries(
  'I3',
  'batch numbers and ledger positions are dense, batch times never go back, and each batch holds what it counted',
  'select count(*) from batch',
  `select format('batch %s is missing before batch %s', number - 1, number) as sentence
   from (select number, lag(number, 1, 0::bigint) over (order by number) as before from batch) b where number <> before + 1`,
  `select format('position %s is missing before position %s', position - 1, position) as sentence
   from (select position, lag(position, 1, -1::bigint) over (order by position) as before from event) e where position <> before + 1`,
  `select format('batch %s is of %s, before the time of the batch before it', number, recorded_at) as sentence
   from (select number, recorded_at, lag(recorded_at) over (order by number) as before from batch) b where recorded_at < before`,
  `select format('position %s is in batch %s, after one of batch %s', position, batch, before) as sentence
   from (select position, batch, lag(batch) over (order by position) as before from event) e where batch < before`,
  `with counted as (
     select coalesce(e.batch, c.batch) as number, coalesce(e.events, 0) as events, coalesce(c.checks, 0) as checks
     from (select batch, count(*) as events from event group by batch) e
     full join (select batch, count(*) as checks from check_in group by batch) c on c.batch = e.batch)
   select format('batch %s counted %s events and %s checks, and holds %s and %s', coalesce(b.number, c.number),
     coalesce(b.events::text, 'no'), coalesce(b.checks::text, 'no'), coalesce(c.events, 0), coalesce(c.checks, 0)) as sentence
   from batch b full join counted c on c.number = b.number
   where (b.events, b.checks) is distinct from (coalesce(c.events, 0), coalesce(c.checks, 0))`,
  `select format('a check of machine %s has another time than its batch %s', c.machine, c.batch) as sentence
   from check_in c join batch b on b.number = c.batch where b.recorded_at <> c.recorded_at`,
);

/** I4: one order of facts per stream, over both tables. */
export const revisions = byQueries(
  'I4',
  "a stream's events and check-ins together have the revisions 1 to n, each once, and its head is at n",
  `select count(distinct stream) from ${FACTS} f`,
  `select format('%s has %s facts with %s revisions from %s to %s', stream, count(*), count(distinct revision), min(revision), max(revision)) as sentence
   from ${FACTS} f group by stream
   having count(*) <> max(revision) or count(distinct revision) <> count(*) or min(revision) <> 1`,
  `select format('the head of %s is at revision %s, its newest fact at %s', h.stream, h.revision, coalesce(f.newest::text, 'none')) as sentence
   from stream_head h left join (select stream, max(revision) as newest from ${FACTS} f group by stream) f on f.stream = h.stream
   where h.revision is distinct from f.newest`,
  `select format('revision %s of %s is in batch %s, after a later revision', revision, stream, batch) as sentence
   from (select stream, revision, batch, lag(batch) over (partition by stream order by revision) as before from ${FACTS} f) o where batch < before`,
);

/** I9: a deletion is the last word (O31). */
export const deletedIsLast = byQueries(
  'I9',
  'no fact of a machine has a revision above that of its deletion',
  `select count(*) from event where type = 'MachineDeleted'`,
  `select format('%s was deleted at revision %s, and has %s later facts, the last at revision %s', d.stream, d.revision, count(*), max(f.revision)) as sentence
   from (select stream, min(revision) as revision from event where type = 'MachineDeleted' group by stream) d
   join ${FACTS} f on f.stream = d.stream and f.revision > d.revision group by d.stream, d.revision`,
);

const listed = (types: ReadonlySet<string>): string => [...types].map((type) => `'${type}'`).join(', ');

/** What is allowed between the look at a session and the record of what was done in it, and between their clocks. Seconds. */
const ON_ITS_WAY = 60;

/**
 * What lets a machine in, in a session that was too old, or in none of that person's; older records do not say in which. A session that does not
 * say when its person showed who they are (an old one, or one by a provider that does not tell) is never fresh.
 */
const IN_OLD_SESSIONS = `
  with said as (
    select e.type, e.position, e.actor, e.body::jsonb ->> 'session' as session, b.recorded_at
    from event e join batch b on b.number = e.batch
    where e.type in ('TokenIssued', 'CodeApproved') and e.body::jsonb ? 'session'
  ), begun as (
    select stream, body::jsonb ->> 'sessionId' as session, (body::jsonb ->> 'authenticatedAt')::timestamptz as at
    from event where type = 'SessionStarted'
  )
  select format('%s at position %s was said in %s', type, position,
    case when begun.session is null then 'no session of its person' when at is null then 'a session that is never fresh'
      else format('a session that had begun %s s before', round(extract(epoch from recorded_at - at))) end) as sentence
  from said left join begun on begun.session = said.session and begun.stream = 'person-' || split_part(said.actor, ':', 2)
  where at is null or recorded_at - at > make_interval(secs => $1)`;

/** I12: only a person admits, issues a token or deletes (O3), whatever the constraint says, and lets machines in only soon after signing in; a token admits one machine. */
export const personsOnly = byQueries(
  'I12',
  'a person is behind all that admits a machine or takes one away, in a session that was fresh, automation behind nothing but webhooks, and a token admits one',
  `select count(*) from event where type in (${listed(PERSON_ONLY_EVENTS)}) or actor like 'automation:%'`,
  `select format('%s at position %s was brought about by %s, and only a person may', type, position, actor) as sentence
   from event where type in (${listed(PERSON_ONLY_EVENTS)}) and actor not like 'person:%'`,
  `select format('%s at position %s was brought about by %s, and automation may not', type, position, actor) as sentence
   from event where actor like 'automation:%' and type not in (${listed(AUTOMATION_EVENTS)})`,
  `select format('token %s admitted %s machines', body::jsonb ->> 'token', count(*)) as sentence
   from event where type = 'MachineAdmitted' and body::jsonb ->> 'token' is not null
   group by body::jsonb ->> 'token' having count(*) > 1`,
  ({ freshSeconds }) => ({ statement: IN_OLD_SESSIONS, values: [freshSeconds + ON_ITS_WAY] }),
);
