import { Injectable } from '@nestjs/common';
import { EventStore } from '@rollcall/event-store';
import { machine, machineStream } from '@rollcall/machine';
import { promiseBook, promiseOf, promisesStream, type Promises } from '@rollcall/promise-book';
import { isPromised, nextPromised, promiseState } from '@rollcall/promises';
import type { AsOf, MachineView, PromisedPresence } from '@rollcall/wire';

/** What people have promised, as the record has it by now. */
@Injectable()
export class OwnedPromises {
  constructor(private readonly store: EventStore) {}

  /** All promises of a person. */
  async all(owner: string): Promise<Promises> {
    const view = await this.store.view(promiseBook, { stream: promisesStream(owner) });
    return view?.state ?? {};
  }

  /** What is promised of a machine that is shown, judged at the time of what is shown. */
  async of({ asOf, machine: shown }: AsOf & { readonly machine: MachineView }): Promise<PromisedPresence | null> {
    const [promises, head] = await Promise.all([
      this.all(shown.owner),
      this.store.view(machine, { stream: machineStream(shown.id) }),
    ]);
    const node = head?.state.enrolment?.nodeId;
    const promise = node === undefined || shown.deletedAt !== null ? null : promiseOf(node, shown.labels, promises);
    if (promise === null || asOf === null) return null;
    const now = Date.parse(asOf);
    const next = isPromised(promise, now) ? null : nextPromised(promise, now);
    return {
      promises: promise.selectors.map((selector, index) => ({ selector, schedule: promise.schedules[index]! })),
      state: promiseState(promise, shown.presence === 'present', now),
      next: next === null ? null : new Date(next).toISOString(),
    };
  }
}
