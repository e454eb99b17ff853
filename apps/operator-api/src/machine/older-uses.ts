import { Injectable } from '@nestjs/common';
import { timestampOf } from '@rollcall/decider';
import { EventStore } from '@rollcall/event-store';
import { machine, machineStream, olderUse, refusals, refusalsStream } from '@rollcall/machine';
import type { OlderUseView } from '@rollcall/wire';

/** What the record knows by now of uses of older credentials than those that count. */
@Injectable()
export class OlderUses {
  constructor(private readonly store: EventStore) {}

  /** The newest one of a machine's; null where there is none. */
  async of(machineId: string): Promise<OlderUseView | null> {
    const [head, used] = await Promise.all([
      this.store.view(machine, { stream: machineStream(machineId) }),
      this.store.view(refusals, { stream: refusalsStream(machineId) }),
    ]);
    const older = head && used && olderUse(used.state, head.state.credential);
    return older && { generation: older.generation, at: timestampOf(older.at) };
  }
}
