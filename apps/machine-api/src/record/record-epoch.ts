import type { EventStore } from '@rollcall/event-store';

/** The record's epoch as this instance knows it. It changes only by a restore, so it is asked for now and then and not per check. */
export class RecordEpoch {
  private constructor(
    private readonly store: EventStore,
    private epoch: string,
  ) {}

  static async of(store: EventStore): Promise<RecordEpoch> {
    return new RecordEpoch(store, await store.epoch());
  }

  get current(): string {
    return this.epoch;
  }

  /** Asks the record again. */
  async refresh(): Promise<void> {
    this.epoch = await this.store.epoch();
  }
}
