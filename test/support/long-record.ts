import { Owner } from './owner.js';

/**
 * Writes checks of a machine behind everything that is recorded, each 30 s after the one before and in a batch of its own: what a
 * machine leaves in months, in seconds. Its newest check is repeated with other ids, as the record would have it.
 *
 * @param checks how many
 */
export const addChecks = async (ownerUrl: string, machine: string, checks: number): Promise<void> => {
  await using owner = await Owner.connect(ownerUrl);
  await owner.rows('select make_check_in_partitions($1)', [Math.ceil((checks * 30) / 86_400) + 2]);
  await owner.rows('begin');
  await owner.rows(
    `insert into batch (number, recorded_at, events, checks)
     select m.number + n, m.recorded_at + n * interval '30 s', 0, 1
     from (select number, recorded_at from batch order by number desc limit 1) m, generate_series(1, $1::bigint) n`,
    [checks],
  );
  await owner.rows(
    `insert into check_in (recorded_at, batch, machine, check_id, revision, generation, boot_counter, boot_id, sequence, said,
       interval_seconds, window_seconds)
     select b.recorded_at, b.number, c.machine, gen_random_uuid(), h.revision + b.number - m.number, c.generation, c.boot_counter, c.boot_id,
       c.sequence + b.number - m.number, c.said, c.interval_seconds, c.window_seconds
     from (select max(number) - $2::bigint as number from batch) m
     join batch b on b.number > m.number
     cross join (select * from check_in where machine = $1::uuid order by revision desc limit 1) c
     join stream_head h on h.stream = 'machine-' || $1`,
    [machine, checks],
  );
  await owner.rows(`update stream_head set revision = revision + $2 where stream = 'machine-' || $1`, [
    machine,
    checks,
  ]);
  await owner.rows('commit');
};
