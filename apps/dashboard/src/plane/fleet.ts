import { isBlocked } from '@rollcall/machine';
import type {
  MachineList,
  MachineView,
  PresenceAnswer,
  PresenceChange,
  PresenceSnapshot,
  StreamEnd,
} from '@rollcall/wire';
import { ask, isRefused } from './ask.js';

/** Which machines, as the list of the plane is asked. */
export type Filter = { readonly name: string; readonly which: Which };
/** The choices above the list. */
export type Which = 'all' | 'present' | 'absent' | 'stopped' | 'blocked';

/** What is shown of a fleet. */
export type Fleet = {
  readonly counts: PresenceSnapshot | null;
  /** By id, as far as they were asked for. */
  readonly machines: readonly MachineView[];
  readonly isComplete: boolean;
  /** Whether changes arrive; while they do not, what is shown may be old. */
  readonly isLive: boolean;
  readonly problem: unknown;
};

const PAGE = 200;
const COUNT_AGAIN_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
/** Whoever has not said by then who is signed in does not say it. */
const ANSWER_MS = 10_000;

/**
 * Milliseconds before the stream is opened for the nth time in a row (from 0): half a second and twice that each time, up to half a minute, and up to
 * twice as long, so that pages that lost it together do not come back together.
 */
export const pauseBefore = (attempt: number, random: number): number =>
  Math.min(500 * 2 ** attempt, LONGEST_PAUSE_MS) * (1 + random);

const QUERY: Readonly<Record<Which, Readonly<Record<string, string>>>> = {
  all: {},
  present: { presence: 'present' },
  absent: { presence: 'absent' },
  stopped: { lifecycle: 'stopped' },
  blocked: { blocked: 'true' },
};

/** Whether a machine is one of those that are asked for; the plane decides the same about its pages. */
export const isWanted = (machine: MachineView, { name, which }: Filter): boolean => {
  if (machine.lifecycle === 'deleted') return false;
  const text = name.toLowerCase();
  const isNamed = text === '' || [machine.name, machine.hostname].some((each) => each?.toLowerCase().includes(text));
  switch (which) {
    case 'all':
      return isNamed;
    case 'present':
    case 'absent':
      return isNamed && machine.presence === which;
    case 'stopped':
      return isNamed && machine.lifecycle === 'stopped';
    case 'blocked':
      return isNamed && isBlocked({ ...machine, blockers: machine.blockers.map(({ code }) => code) });
  }
};

/** The list after a change. One that is beyond what was asked for so far will come with its page. */
export const withChange = (
  machines: readonly MachineView[],
  machine: MachineView,
  { filter, isComplete }: { readonly filter: Filter; readonly isComplete: boolean },
): readonly MachineView[] => {
  const at = machines.findIndex(({ id }) => id >= machine.id);
  const isThere = at >= 0 && machines[at]?.id === machine.id;
  // What a list said last may be newer than a change that was under way.
  if (isThere && machines[at]!.revision > machine.revision) return machines;
  const others = isThere ? machines.toSpliced(at, 1) : machines;
  if (!isWanted(machine, filter)) return others;
  if (at >= 0) return others.toSpliced(at, 0, machine);
  return isComplete ? [...others, machine] : others;
};

/** Nothing is known yet. */
export const NO_FLEET: Fleet = { counts: null, machines: [], isComplete: false, isLive: false, problem: null };

/**
 * Follows the machines of a filter until it is closed, and tells each time that something is different. The plane tells of all changes on one
 * stream, whatever the filter is, so another filter needs no other stream.
 */
export class FleetFollower {
  #fleet: Fleet = NO_FLEET;
  readonly #over = new AbortController();
  #filter: Filter;
  /** Aborted when another filter takes the place of that for which a page is under way. */
  #list = new AbortController();
  #next: string | null = null;
  #isAsking = false;
  #counting: ReturnType<typeof setTimeout> | null = null;
  #source: EventSource | null = null;
  #comingBack: ReturnType<typeof setTimeout> | null = null;
  /** How often in a row the stream was not to be had. */
  #attempts = 0;

  constructor(
    filter: Filter,
    private readonly changed: (fleet: Fleet) => void,
    private readonly after: (ms: number, work: () => void) => ReturnType<typeof setTimeout> = (ms, work) =>
      setTimeout(work, ms),
  ) {
    this.#filter = filter;
    this.#follow();
  }

  /** Follows those of another filter from now on; what was counted stays. */
  show(filter: Filter): void {
    if (filter.which === this.#filter.which && filter.name === this.#filter.name) return;
    this.#filter = filter;
    this.#askAnew();
  }

  /** Asks for the next page, unless that is under way, or there is none. */
  async more(): Promise<void> {
    if (this.#isAsking || this.#fleet.isComplete) return;
    this.#isAsking = true;
    const { signal } = this.#list;
    try {
      const query = new URLSearchParams({ ...this.#query(), limit: String(PAGE) });
      if (this.#next !== null) query.set('after', this.#next);
      const page = await ask<MachineList>('GET', `/v1/machines?${query}`, { signal });
      if (signal.aborted) return;
      const isFirst = this.#next === null;
      this.#next = page.next;
      this.#tell({
        machines: isFirst ? page.machines : [...this.#fleet.machines, ...page.machines],
        isComplete: page.next === null,
        problem: null,
      });
    } catch (problem) {
      if (!signal.aborted) this.#tell({ problem });
    } finally {
      // Where another list has been begun meanwhile, that one is asking.
      if (!signal.aborted) this.#isAsking = false;
    }
  }

  close(): void {
    this.#over.abort();
    this.#list.abort();
    this.#source?.close();
    if (this.#counting !== null) clearTimeout(this.#counting);
    if (this.#comingBack !== null) clearTimeout(this.#comingBack);
  }

  #follow(): void {
    const source = new EventSource('/v1/presence/stream');
    this.#source = source;
    const beginAnew = (): void => {
      this.#attempts = 0;
      this.#tell({ isLive: true });
      this.#askAnew();
      void this.#count();
    };
    source.addEventListener('snapshot', beginAnew);
    source.addEventListener('reset', beginAnew);
    source.addEventListener('heard', () => this.#tell({ isLive: true }));
    source.addEventListener('change', (event: MessageEvent<string>) => {
      const { machine } = JSON.parse(event.data) as PresenceChange;
      const { machines, isComplete } = this.#fleet;
      this.#tell({ isLive: true, machines: withChange(machines, machine, { filter: this.#filter, isComplete }) });
      this.#countSoon();
    });
    source.addEventListener('end', ({ data }: MessageEvent<string>) => {
      if ((JSON.parse(data) as StreamEnd).reason !== 'signed-out') return;
      source.close();
      this.#tell({ isLive: false });
      void this.#comeBack();
    });
    source.addEventListener('error', () => {
      this.#tell({ isLive: false });
      // From a connection that broke the browser comes back by itself, with the id of the last event. After an answer that is no stream it does not.
      if (source.readyState === EventSource.CLOSED) void this.#comeBack();
    });
  }

  /** Opens another stream after a while, unless nobody is signed in any more: whoever hears that shows it. */
  async #comeBack(): Promise<void> {
    const { signal } = this.#over;
    try {
      await ask('GET', '/v1/me', { signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]) });
    } catch (problem) {
      if (isRefused(problem, 'not-signed-in')) return;
    }
    if (signal.aborted) return;
    this.#comingBack = this.after(pauseBefore(this.#attempts, Math.random()), () => this.#follow());
    this.#attempts += 1;
  }

  #askAnew(): void {
    this.#list.abort();
    this.#list = new AbortController();
    this.#isAsking = false;
    this.#next = null;
    this.#tell({ isComplete: false });
    void this.more();
  }

  /** A storm of changes is counted once in a second. */
  #countSoon(): void {
    this.#counting ??= setTimeout(() => {
      this.#counting = null;
      void this.#count();
    }, COUNT_AGAIN_MS);
  }

  async #count(): Promise<void> {
    try {
      this.#tell({ counts: await ask<PresenceAnswer>('GET', '/v1/presence', { signal: this.#over.signal }) });
    } catch (problem) {
      if (!this.#over.signal.aborted) this.#tell({ problem });
    }
  }

  #query(): Record<string, string> {
    const { name, which } = this.#filter;
    return { ...QUERY[which], ...(name === '' ? {} : { name }) };
  }

  #tell(change: Partial<Fleet>): void {
    if (this.#over.signal.aborted) return;
    this.#fleet = { ...this.#fleet, ...change };
    this.changed(this.#fleet);
  }
}
