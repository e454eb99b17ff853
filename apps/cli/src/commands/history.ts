import type { History, HistoryEntry } from '@rollcall/wire';
import type { Context } from '../context.js';
import { noteAge } from '../output/machine-view.js';
import { clockTime } from '../output/relative-time.js';
import type { Cell } from '../output/output.js';
import { pathOf } from './machines.js';

/** `rollcall history MACHINE`: everything that is recorded about a machine, oldest first, also after its deletion. */
export const showHistory = async (
  machine: string,
  options: { readonly limit: number },
  { output, plane, surroundings }: Context,
): Promise<void> => {
  const history = await (
    await plane()
  ).read<History>(`${pathOf(machine)}/history?limit=${options.limit}`, surroundings.signal);
  if (output.asJson) return output.json(history);
  output.table(['WHEN', 'WHAT'], history.entries.map(rowOf));
  noteAge(output, history);
};

const rowOf = (entry: HistoryEntry): Cell[] => [
  entry.kind !== 'event' && entry.until !== entry.at
    ? `${clockTime(entry.at)} – ${clockTime(entry.until)}`
    : clockTime(entry.at),
  entry.kind === 'not-observed' ? { text: entry.sentence, tone: 'warning' } : entry.sentence,
];
