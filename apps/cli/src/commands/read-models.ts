import type { ReadModelList, ReadModelStatus } from '@rollcall/wire';
import type { Context } from '../context.js';
import type { Cell } from '../output/output.js';
import { clockTime } from '../output/relative-time.js';

/** `rollcall read-models [status]`: how far each read model has followed the record. */
export const showReadModels = async ({ output, plane, surroundings }: Context): Promise<void> => {
  const list = await (await plane()).read<ReadModelList>('/v1/read-models', surroundings.signal);
  if (output.asJson) return output.json(list);
  output.table(
    ['NAME', 'STATE', 'CHECKPOINT', 'NEWEST', 'BEHIND BY', 'HEARD UNTIL', 'PARKED'],
    list.readModels.map(rowOf),
  );
};

/** `rollcall read-models rebuild NAME`: empties a read model; its follower builds it again from the record (U7). */
export const rebuildReadModel = async (name: string, { output, plane }: Context): Promise<void> => {
  const answer = await (await plane()).write('POST', `/v1/read-models/${encodeURIComponent(name)}/rebuild`);
  if (output.asJson) return output.json(answer ?? { name, rebuilding: true });
  output.line(`The read model "${name}" is being rebuilt; see \`rollcall read-models status\`.`);
};

const rowOf = (model: ReadModelStatus): Cell[] => [
  model.name,
  stateOf(model),
  model.checkpoint,
  model.newest,
  model.lagBatches,
  model.heardUntil === null ? 'nothing yet' : clockTime(model.heardUntil),
  model.parked === 0 ? '0' : { text: String(model.parked), tone: 'warning' },
];

const stateOf = ({ rebuilding, epochMatches }: ReadModelStatus): Cell => {
  if (rebuilding) return { text: 'rebuilding', tone: 'warning' };
  return epochMatches ? 'following' : { text: 'of another epoch', tone: 'bad' };
};
