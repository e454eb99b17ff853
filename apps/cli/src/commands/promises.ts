import { randomUUID } from 'node:crypto';
import type { PromiseAnswer, PromiseList } from '@rollcall/wire';
import type { Context } from '../context.js';
import { EXIT, Failure } from '../failure.js';
import type { Cell } from '../output/output.js';

/** What a promise is about: a machine's node, or all nodes with a label (`key=value`). */
export type Subject = { readonly machine?: string; readonly label?: string };

/** `rollcall promises [list]` */
export const listPromises = async ({ output, plane, surroundings }: Context): Promise<void> => {
  const list = await (await plane()).read<PromiseList>('/v1/promises', surroundings.signal);
  if (output.asJson) output.json(list);
  else if (list.promises.length === 0) output.line('Nothing is promised: an absence is a fact, and no alarm.');
  else
    output.table(
      ['FOR', 'SCHEDULE', 'NOW'],
      list.promises.map(({ selector, machine, schedule, promisedNow }): Cell[] => [
        machine === null ? selector : `${machine.name ?? '(unnamed)'} (${machine.id})`,
        schedule,
        promisedNow ? { text: 'promised', tone: 'good' } : { text: 'not promised', tone: 'quiet' },
      ]),
    );
};

/** `rollcall promises set (--machine MACHINE | --label KEY=VALUE) SCHEDULE` (N11) */
export const makePromise = async (words: readonly string[], subject: Subject, context: Context): Promise<void> => {
  requireSubject(subject);
  const body = { commandId: randomUUID(), ...subject, schedule: words.join(' ') };
  tell(await (await context.plane()).write<PromiseAnswer>('PUT', '/v1/promises', body), context);
};

/** `rollcall promises remove (--machine MACHINE | --label KEY=VALUE)` */
export const withdrawPromise = async (subject: Subject, context: Context): Promise<void> => {
  requireSubject(subject);
  const body = { commandId: randomUUID(), ...subject };
  tell(await (await context.plane()).write<PromiseAnswer>('DELETE', '/v1/promises', body), context);
};

const requireSubject = ({ machine, label }: Subject): void => {
  if (machine === undefined && label === undefined)
    throw new Failure('Say what it is about: --machine MACHINE, or --label KEY=VALUE.', EXIT.usage);
};

const tell = (answer: PromiseAnswer, { output }: Context): void => {
  const { selector, schedule } = answer.promise;
  if (output.asJson) output.json(answer);
  else
    output.line(schedule === null ? `Nothing is promised for ${selector}.` : `Promised for ${selector}: ${schedule}`);
};
