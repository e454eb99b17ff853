import { PostgresLog } from '@rollcall/event-store-postgres';
import { NO_TRAIL, trailAfter } from '@rollcall/read-models';
import type { Finding, Invariant } from '../finding.js';

const AT_ONCE = 500;
type Place = { readonly name: string; readonly checkpoint: string; readonly trail: string };

/** I6: whatever came by the feed or from the record, late, twice or never (U2). */
export const appliedOnce: Invariant = {
  id: 'I6',
  promise: 'each read model has applied the batches up to its checkpoint, each once and in order',
  judge: async ({ rows, connectionString }): Promise<Finding> => {
    // One that has not followed this epoch yet will begin anew, and is not judged until then.
    const places = await rows<Place>(`
      select name, checkpoint::text as checkpoint, trail from read_model
      where epoch = (select epoch::text from record_epoch) order by read_model.checkpoint, name`);
    const wanted = places.map(({ checkpoint }) => BigInt(checkpoint));
    const trails = await trailsOf(connectionString, wanted).catch((error: unknown) => error);
    if (!(trails instanceof Map))
      return { examined: places.length, broken: [`the record cannot be read from its beginning: ${String(trails)}`] };
    const broken = places.flatMap(({ name, checkpoint, trail }) => {
      const expected: unknown = trails.get(BigInt(checkpoint));
      if (expected === undefined) return [`${name} is at batch ${checkpoint}, ahead of the record`];
      return expected === trail
        ? []
        : [`${name} has not applied the batches 1 to ${checkpoint} as they are recorded, each once and in order`];
    });
    return { examined: places.length, broken };
  },
};

/** The trail at each of these batches, in one pass. Those that the record does not have are not in it. */
const trailsOf = async (connectionString: string, ascending: readonly bigint[]): Promise<Map<bigint, string>> => {
  const log = new PostgresLog({ connectionString, applicationName: 'rollcall-verify', readers: 2 });
  const trails = new Map<bigint, string>();
  try {
    let at = 0n;
    let trail = NO_TRAIL;
    for (const wanted of ascending) {
      while (at < wanted) {
        const left = wanted - at;
        const batches = await log.readBatches(at, left < AT_ONCE ? Number(left) : AT_ONCE);
        const newest = batches.at(-1);
        if (newest === undefined) return trails;
        trail = trailAfter(trail, batches);
        at = newest.number;
      }
      trails.set(wanted, trail);
    }
    return trails;
  } finally {
    await log.close();
  }
};
