import { instantOf, type Instant } from '@rollcall/decider';
import type { MachineCommand } from '../commands.js';
import type { MachineFact } from '../facts.js';
import { machine, type MachineState } from '../machine.js';
import { presence, type Presence } from '../presence.js';

/** One machine's stream in memory, on a clock that the test moves: what the record does, without its commits. */
export class StreamOnClock {
  state: MachineState = machine.initial();
  readonly facts: MachineFact[] = [];
  lastCheckAt: Instant | null = null;

  constructor(public now: Instant) {}

  /** Decides and records; the facts of this decision. Throws `Refusal`. */
  do(command: MachineCommand): readonly MachineFact[] {
    const decided = machine.decide(this.state, command, { now: this.now, lastCheckAt: this.lastCheckAt });
    this.state = decided.reduce(machine.evolve, this.state);
    this.facts.push(...decided);
    if (decided.some(({ type }) => type === 'CheckedIn')) this.lastCheckAt = this.now;
    return decided;
  }

  /** What a reader that has heard everything until now says. */
  presence(): Presence {
    const dueAt = this.state.absence?.dueAt;
    return presence(this.now, {
      lastCheckAt: this.lastCheckAt,
      window: this.state.checkIns.window,
      gapEnd: null,
      absentSince: dueAt === undefined ? null : instantOf(dueAt),
    });
  }

  /** The recorded facts as the record returns them: the chain is not recorded. */
  recorded(): MachineFact[] {
    return this.facts.map((fact) => {
      if (fact.type !== 'CheckedIn') return fact;
      const { chain: _notRecorded, ...kept } = fact;
      return kept;
    });
  }
}
