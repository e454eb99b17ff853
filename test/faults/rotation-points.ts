import type { MachineEvent } from '@rollcall/machine';
import { amount } from '../support/amount.js';
import type { Task } from './programs/agent.js';

/** Where a machine registers its next credential. */
export const ROTATIONS = '/v1/credential/rotations';
/** Where it checks in. */
export const CHECK = '/v1/check';

/** What can be checked in with when everything stands still. */
export type Accepted = 'the old one' | 'both' | 'the new one';

/** Where a rotation is cut off, and what is accepted then. */
export type Point = { readonly where: string; readonly accepted: Accepted } & (
  | /** An agent is killed after a step of its own. */ { readonly step: Task['step'] }
  | /** … while a call or its answer is on the way. */ { readonly path: string; readonly way: 'there' | 'back' }
  | /** The instance of the machine API that has the call is killed. */ {
      readonly event: MachineEvent['type'];
      readonly committed: boolean;
    }
);

/** Every point at which an agent is killed, in the order of a rotation. */
export const OF_THE_AGENT: readonly Point[] = [
  { where: 'agent: before anything is kept', accepted: 'the old one', step: 'begun' },
  { where: 'agent: the next secret is kept', accepted: 'the old one', step: 'stored' },
  { where: 'agent: its registration is on the way', accepted: 'the old one', path: ROTATIONS, way: 'there' },
  { where: 'agent: the answer to that is on the way', accepted: 'both', path: ROTATIONS, way: 'back' },
  { where: 'agent: it has arrived', accepted: 'both', step: 'registered' },
  { where: 'agent: the number is kept', accepted: 'both', step: 'numbered' },
  { where: 'agent: the first check with it is on the way', accepted: 'both', path: CHECK, way: 'there' },
  { where: 'agent: the answer to that check is on the way', accepted: 'the new one', path: CHECK, way: 'back' },
  { where: 'agent: that has arrived', accepted: 'the new one', step: 'used' },
  { where: 'agent: the next one is in its place', accepted: 'the new one', step: 'placed' },
];
/** Every point at which an instance of the machine API is. */
export const OF_THE_PLANE: readonly Point[] = [
  {
    where: 'machine API: the registration is decided, not committed',
    accepted: 'the old one',
    event: 'GenerationRegistered',
    committed: false,
  },
  {
    where: 'machine API: it is committed, not answered',
    accepted: 'both',
    event: 'GenerationRegistered',
    committed: true,
  },
  {
    where: 'machine API: the first check is decided, not committed',
    accepted: 'both',
    event: 'GenerationConfirmed',
    committed: false,
  },
  {
    where: 'machine API: that is committed, not answered',
    accepted: 'the new one',
    event: 'GenerationConfirmed',
    committed: true,
  },
];

/** A cell of the table: where it is cut off, and where the next start of the agent is cut off as well. null: that one lives. */
export type Cell = { readonly first: Point; readonly second: Point | null };

/** Whether a start after a cut comes by another point: what is registered is not registered again, and what is in place is only checked in with. */
const comesBy = (first: Point, second: Point): boolean => {
  if (first.accepted === 'the old one') return true;
  const isChecked = 'path' in second && second.path === CHECK;
  if (isChecked) return true;
  const isPlaced = 'step' in first && first.step === 'placed';
  return !isPlaced && 'step' in second && (second.step === 'used' || second.step === 'placed');
};

const alone = (first: Point): Cell => ({ first, second: null });
const withEach = (first: Point): Cell[] =>
  OF_THE_AGENT.filter((second) => comesBy(first, second)).map((second) => ({ first, second }));

/** Each point once, every other time with a second cut at the point that comes after it; or the whole table. */
export const AGENT_CELLS = amount({
  usual: OF_THE_AGENT.map((first, index) => {
    const second = OF_THE_AGENT[index + 1];
    return index % 2 === 0 && second && comesBy(first, second) ? { first, second } : alone(first);
  }),
  whole: OF_THE_AGENT.flatMap((first) => [alone(first), ...withEach(first)]),
});
/** An instance takes seconds to start again. */
export const PLANE_CELLS = amount({
  usual: OF_THE_PLANE.slice(1, 3).map(alone),
  whole: OF_THE_PLANE.flatMap((first) => [alone(first), ...withEach(first).slice(0, 1)]),
});
