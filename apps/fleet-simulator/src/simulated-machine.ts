import { BLOCKER_CODES, STOP_REASONS } from '@rollcall/machine';
import type { CheckAnswer, CheckRequest, ProblemCode, StopReasonWord } from '@rollcall/wire';
import type { Chance } from './chance.js';

/** What happens in the life of a machine, beside that it checks in. */
export const LIFE = ['restart', 'goodbye', 'blockers', 'hostname'] as const;
export type LifeEvent = (typeof LIFE)[number];

/** What a machine is made of. Ids are arguments: they must be new in each run, whereas its life may be repeated. */
export type SimulatedMachineOptions = {
  readonly index: number;
  /** `rcm_…` */
  readonly credential: string;
  readonly chance: Chance;
  /** One check in so many comes with an event of its life; 0: nothing ever happens. */
  readonly eventEvery: number;
  readonly newCheckId: () => string;
  /** 8 hex digits. */
  readonly newBootId: () => string;
  readonly onEvent: (event: LifeEvent) => void;
};

/** What became of a check, as far as a machine acts on it. */
export type Outcome =
  | { readonly kind: 'accepted'; readonly answer: Pick<CheckAnswer, 'chain'> }
  | { readonly kind: 'refused'; readonly code: ProblemCode; readonly highestBoot: number | null }
  | { readonly kind: 'unanswered' };

/** How many of its turns a machine is away at most after a goodbye. */
const LONGEST_ABSENCE = 20;
/** The reasons that are followed by a return. */
const REASONS: readonly StopReasonWord[] = STOP_REASONS.filter((reason) => reason !== 'revocation');

/**
 * An honest machine: boots are counted, checks are numbered within a boot, a check that was not answered is said again under its id, and
 * each check presents the chain token of the newest answer. Its life follows from its chance and the order of its turns, and not from any clock.
 */
export class SimulatedMachine {
  readonly #o: SimulatedMachineOptions;
  #boot: CheckRequest['boot'];
  #sequence = 0;
  #chain: string | null = null;
  #unanswered: CheckRequest | null = null;
  #blockers: readonly string[] = [];
  #hostname: string;
  #renamed = 0;
  /** Turns that it is still away; it comes back as a new boot. */
  #away = 0;
  #retired = false;

  constructor(options: SimulatedMachineOptions) {
    this.#o = options;
    this.#boot = { counter: 1, id: options.newBootId() };
    this.#hostname = this.name;
  }

  get credential(): string {
    return this.#o.credential;
  }

  get name(): string {
    return `sim-${String(this.#o.index).padStart(6, '0')}`;
  }

  /** The plane no longer knows it, or never did: it checks in no more. */
  get retired(): boolean {
    return this.#retired;
  }

  /** Takes a turn: the check to send now; null when it is away. */
  turn(): CheckRequest | null {
    if (this.#retired) return null;
    if (this.#away > 0) {
      this.#away -= 1;
      if (this.#away === 0) this.#start(this.#boot.counter + 1);
      return null;
    }
    return (this.#unanswered ??= this.#newCheck());
  }

  /** Learns what became of the check of its last turn. */
  learn(outcome: Outcome): void {
    const sent = this.#unanswered;
    if (outcome.kind === 'accepted') {
      this.#chain = outcome.answer.chain;
      this.#unanswered = null;
    } else if (outcome.kind === 'refused') this.#heed(outcome);
    // Heard or not, after a goodbye it is gone.
    if (sent?.said === 'stopping') {
      this.#unanswered = null;
      this.#away = 1 + this.#o.chance.below(LONGEST_ABSENCE);
    }
  }

  #heed({ code, highestBoot }: { readonly code: ProblemCode; readonly highestBoot: number | null }): void {
    switch (code) {
      case 'unavailable':
      case 'slow-down':
      case 'internal':
        return; // The same check again.
      case 'stale-check':
        this.#start(Math.max(this.#boot.counter, highestBoot ?? 0) + 1);
        return;
      case 'credential-revoked':
      case 'credential-unknown':
      case 'generation-behind':
        this.#retired = true;
        return;
      default:
        this.#unanswered = null;
    }
  }

  #start(counter: number): void {
    this.#boot = { counter, id: this.#o.newBootId() };
    this.#sequence = 0;
    this.#unanswered = null;
  }

  #newCheck(): CheckRequest {
    const { chance, eventEvery, newCheckId, onEvent } = this.#o;
    const event = eventEvery > 0 && chance.below(eventEvery) === 0 ? LIFE[chance.below(LIFE.length)] : undefined;
    const reason = this.#live(event);
    if (event) onEvent(event);
    this.#sequence += 1;
    return {
      boot: this.#boot,
      sequence: this.#sequence,
      checkId: newCheckId(),
      chain: this.#chain,
      said: reason === null ? 'running' : 'stopping',
      reason,
      // Nothing has been probed when the first check of a boot goes out.
      blockers: this.#sequence === 1 ? null : this.#blockers,
      name: this.name,
      report: { hostname: this.#hostname, agentVersion: 'simulated', platform: 'linux', arch: 'x64' },
    };
  }

  /** Lets something happen. Returns why it stops, if it does. */
  #live(event: LifeEvent | undefined): StopReasonWord | null {
    const { chance } = this.#o;
    switch (event) {
      case 'restart':
        this.#start(this.#boot.counter + 1);
        return null;
      case 'goodbye':
        return REASONS[chance.below(REASONS.length)] ?? null;
      case 'blockers':
        this.#blockers = BLOCKER_CODES.filter(() => chance.below(4) === 0);
        return null;
      case 'hostname':
        this.#renamed += 1;
        this.#hostname = `${this.name}-${this.#renamed}`;
        return null;
      default:
        return null;
    }
  }
}
