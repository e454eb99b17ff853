import { Injectable } from '@nestjs/common';
import { EventStore } from '@rollcall/event-store';
import { LogTails } from '@rollcall/log-tails';
import { machine, machineStream } from '@rollcall/machine';
import type { LogTailView } from '@rollcall/wire';
import { OwnedMachines } from '../owned-machines.js';

/** What a machine uploaded last. Which upload counts is read from the record, not from a read model, so it is there once it is answered. */
@Injectable()
export class UploadedLogTail {
  constructor(
    private readonly store: EventStore,
    private readonly machines: OwnedMachines,
    private readonly tails: LogTails,
  ) {}

  /** @throws Refusal `machine-not-found` or `name-ambiguous` */
  async of(wanted: string, owner: string): Promise<LogTailView> {
    const id = await this.machines.idOf(wanted, owner);
    const view = await this.store.view(machine, { stream: machineStream(id) });
    const { logTail = null, logTailReceived = null } = view?.state.requests ?? {};
    const kept = logTailReceived === null ? null : await this.tails.read(id, logTailReceived);
    return {
      machine: { id, name: view?.state.name?.value ?? null },
      requested: logTail,
      tail: kept && {
        stamp: kept.stamp,
        receivedAt: new Date(kept.receivedAt).toISOString(),
        log: kept.bytes.toString('utf8'),
      },
    };
  }
}
