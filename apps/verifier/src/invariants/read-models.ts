import { PostgresLog } from '@rollcall/event-store-postgres';
import { MemoryReadModels } from '@rollcall/read-models';
import type { Finding, Invariant, Subject } from '../finding.js';
import { tablesInSnapshot } from '../tables-in-snapshot.js';

const AT_ONCE = 500;
type Place = { readonly name: string; readonly checkpoint: string; readonly epoch: string | null };

/** I7: read models hold nothing but what follows from the facts up to their checkpoint (U7). */
export const folds: Invariant = {
  id: 'I7',
  promise: 'each read model at its checkpoint is the pure fold of the record up to there',
  judge: async (subject): Promise<Finding> => {
    const [record] = await subject.rows<{ epoch: string }>('select epoch::text as epoch from record_epoch');
    const { places, dump } = await tablesInSnapshot(subject.connectionString);
    // One that has not followed this epoch yet will begin anew, and is not judged until then.
    const followed = places.filter(({ epoch }) => epoch === record?.epoch);
    const broken: string[] = [];
    for (const place of followed) broken.push(...(await compare(subject, place, dump)));
    return { examined: followed.length, broken };
  },
};

const compare = async (
  { connectionString, gapSeconds }: Subject,
  place: Place,
  dump: string,
): Promise<readonly string[]> => {
  const folded = new MemoryReadModels(gapSeconds);
  const log = new PostgresLog({ connectionString, applicationName: 'rollcall-verify', readers: 2 });
  try {
    const last = BigInt(place.checkpoint);
    for (let at = 0n; at < last;) {
      const left = Number(last - at);
      const batches = await log.readBatches(at, Math.min(AT_ONCE, left));
      const newest = batches.at(-1);
      if (!newest) return [`${place.name} is at batch ${last}, ahead of the record at ${at}`];
      folded.apply(batches);
      at = newest.number;
    }
  } catch (error) {
    return [`${place.name} cannot be folded: ${error instanceof Error ? error.message : String(error)}`];
  } finally {
    await log.close();
  }
  const expected = new Set(linesOf(folded.dump(), place.name));
  const actual = new Set(linesOf(dump, place.name));
  return [
    ...[...expected.difference(actual)].map((line) => `${place.name} lacks ${line}`),
    ...[...actual.difference(expected)].map((line) => `${place.name} has, and should not: ${line}`),
  ];
};

/** The lines of a dump that are about one read model. A model that nothing was applied to has an empty place on both sides. */
const linesOf = (dump: string, name: string): readonly string[] =>
  dump.split('\n').filter((line) => {
    if (line === '') return false;
    const { table, readModel } = JSON.parse(line) as { readonly table: string; readonly readModel?: string };
    return table === name || readModel === name;
  });
