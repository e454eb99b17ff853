import { randomUUID } from 'node:crypto';
import type { EventStore } from '@rollcall/event-store';
import { machine, machineStream, type AcceptCheck, type MachineCommand } from '@rollcall/machine';
import { admit, check } from '@rollcall/machine/testing';
import type { RecordClock } from './record-clock.js';

/** What a fleet lives on. */
export type ClockedPlane = {
  readonly store: EventStore;
  readonly clock: RecordClock;
  /** Resolves when whoever follows the record has applied what is in it. */
  readonly keepUp: () => Promise<void>;
};

/** Machines check in every half a minute, a fifth of them every six seconds. */
const PHASES = 5;
const PHASE_SECONDS = 6;

/** A fleet of one owner in which machines check in, each in its phase, until they are told to be silent. */
export class ClockedFleet {
  readonly #machines: { id: string; keyHash: string; sequence: number; silent: boolean }[] = [];
  #tick = 0;
  readonly #actor = { kind: 'person', id: 'fleet' } as const;

  private constructor(
    private readonly plane: ClockedPlane,
    private readonly interval: number,
  ) {}

  /** @param interval seconds; the fleet itself checks in every half a minute, unless it is silent (Default: 30) */

  static async of({
    owner,
    size,
    interval = 30,
    ...plane
  }: ClockedPlane & {
    readonly owner: string;
    readonly size: number;
    readonly interval?: number;
  }): Promise<ClockedFleet> {
    const fleet = new ClockedFleet(plane, interval);
    for (let n = 0; n < size; n += 1) {
      const id = randomUUID();
      fleet.#machines.push({ id, keyHash: id.replaceAll('-', '').padStart(64, '0'), sequence: 0, silent: false });
    }
    await Promise.all(
      fleet.#machines.map(({ id, keyHash }) =>
        fleet.#ask(
          id,
          admit({
            machineId: id,
            keyHash,
            identifierHash: id,
            token: { id, expiresAt: plane.clock.now + 3_600_000, owner, name: `box ${id.slice(0, 4)}` },
            report: { hostname: null, agentVersion: '1.2.3', platform: 'linux', arch: 'x64' },
          }),
        ),
      ),
    );
    await Promise.all(fleet.#machines.map((_, n) => fleet.#check(n)));
    return fleet;
  }

  /** Time goes by; whoever is not silent checks in; whoever follows the record keeps up with it. */
  async live(seconds: number): Promise<void> {
    for (let passed = 0; passed < seconds; passed += PHASE_SECONDS) {
      await this.plane.clock.pass(PHASE_SECONDS);
      this.#tick += 1;
      await Promise.all(
        this.#machines.flatMap((each, n) =>
          n % PHASES === this.#tick % PHASES && !each.silent ? [this.#check(n)] : [],
        ),
      );
      await this.plane.store.mark(0);
      await this.plane.keepUp();
    }
  }

  async label(from: number, to: number, rack: string): Promise<void> {
    await Promise.all(
      this.#machines.slice(from, to).map(({ id }) => this.#ask(id, { type: 'SetLabels', set: { rack }, remove: [] })),
    );
  }

  /** They say that they will stop, and do. */
  async stop(from: number, to: number): Promise<void> {
    const stopping = this.#machines
      .slice(from, to)
      .map((_, n) => this.#check(from + n, { said: 'stopping', reason: 'person' }));
    await Promise.all(stopping);
    this.silence(from, to);
  }

  silence(from: number, to: number, silent = true): void {
    for (const each of this.#machines.slice(from, to)) each.silent = silent;
  }

  async delete(n: number): Promise<void> {
    await this.#ask(this.#machines[n]!.id, { type: 'DeleteMachine' });
    this.silence(n, n + 1);
  }

  id(n: number): string {
    return this.#machines[n]!.id;
  }

  async #check(n: number, said: Partial<AcceptCheck> = {}): Promise<void> {
    const each = this.#machines[n]!;
    each.sequence += 1;
    const { id, keyHash, sequence } = each;
    await this.#ask(
      id,
      check({
        keyHash,
        sequence,
        checkId: randomUUID(),
        policy: { interval: this.interval, windowFloor: 120 },
        ...said,
      }),
    );
  }

  async #ask(id: string, command: MachineCommand): Promise<void> {
    await this.plane.store.decide(machine, { stream: machineStream(id) }, command, { actor: this.#actor });
  }
}
