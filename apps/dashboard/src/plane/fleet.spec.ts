import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { MachineView } from '@rollcall/wire';
import { onSignedOut } from './ask.js';
import { FleetFollower, isWanted, pauseBefore, withChange, type Filter, type Fleet, type Which } from './fleet.js';

const machine = (id: string, change: Partial<MachineView> = {}): MachineView =>
  ({
    id,
    name: `box ${id}`,
    hostname: 'node-7.example',
    presence: 'present',
    lifecycle: 'running',
    canTakeWork: true,
    blockers: [],
    revision: 5,
    ...change,
  }) as MachineView;
const stands = (code: string) => ({ code }) as MachineView['blockers'][number];
const filter = (which: Which, name = ''): Filter => ({ which, name });
const ids = (machines: readonly MachineView[]) => machines.map(({ id }) => id).join('');

describe('a list of machines that changes', () => {
  const shown = [machine('b'), machine('d')];
  const all = { filter: filter('all'), isComplete: true };

  it('takes a machine in at its place, and shows it once', () => {
    expect(ids(withChange(shown, machine('c'), all))).toBe('bcd');
    expect(ids(withChange(shown, machine('e'), all))).toBe('bde');
    const renamed = withChange(shown, machine('b', { name: 'new', revision: 6 }), all);
    expect([ids(renamed), renamed[0]?.name]).toEqual(['bd', 'new']);
  });

  it('loses one that is deleted, or not like that any more', () => {
    expect(ids(withChange(shown, machine('b', { lifecycle: 'deleted', revision: 6 }), all))).toBe('d');
    const present = { filter: filter('present'), isComplete: true };
    expect(ids(withChange(shown, machine('d', { presence: 'absent', revision: 6 }), present))).toBe('b');
  });

  it('leaves what is beyond the pages that it has to the page that will bring it', () =>
    expect(ids(withChange(shown, machine('e'), { filter: filter('all'), isComplete: false }))).toBe('bd'));

  it('keeps what a list has said of a machine where a change is older', () =>
    expect(withChange(shown, machine('b', { name: 'old', revision: 4 }), all)).toBe(shown));
});

it.each<[Which, Partial<MachineView>, boolean]>([
  ['all', {}, true],
  ['all', { lifecycle: 'deleted' }, false],
  ['present', {}, true],
  ['present', { presence: 'absent' }, false],
  ['absent', { presence: 'absent', lifecycle: 'unknown' }, true],
  ['stopped', { presence: 'absent', lifecycle: 'stopped' }, true],
  ['stopped', {}, false],
  ['blocked', { blockers: [stands('disk-full')] }, true],
  ['blocked', { blockers: [stands('disk-full')], lifecycle: 'stopping' }, true],
  ['blocked', { blockers: [stands('stops-at-logout')] }, false],
  ['blocked', {}, false],
  ['blocked', { blockers: [stands('disk-full')], presence: 'absent' }, false],
])('asked for %s, a machine with %j is shown: %s', (which, change, expected) =>
  expect(isWanted(machine('a', change), filter(which))).toBe(expected),
);

it('is found by a part of its name or of its hostname, in any case', () => {
  expect(isWanted(machine('a'), filter('all', 'BOX'))).toBe(true);
  expect(isWanted(machine('a'), filter('all', 'Node-7'))).toBe(true);
  expect(isWanted(machine('a'), filter('all', 'node-8'))).toBe(false);
});

it('waits longer for its stream each time, up to a minute, and never as long as another page (U9)', () => {
  expect([0, 1, 2, 6, 60].map((attempt) => pauseBefore(attempt, 0))).toEqual([500, 1_000, 2_000, 30_000, 30_000]);
  expect(pauseBefore(60, 0.999)).toBeLessThan(60_000);
});

describe('a follower', () => {
  const { EventSource: source, fetch: fetched } = globalThis;
  const streams: Stream[] = [];
  class Stream extends EventTarget {
    static readonly CLOSED = 2;
    readyState = 1;
    constructor() {
      super();
      streams.push(this);
    }
    close(): void {
      this.readyState = Stream.CLOSED;
    }
    /** As a browser does after an answer that is no stream. */
    failForGood(): void {
      this.close();
      this.dispatchEvent(new Event('error'));
    }
  }
  beforeEach(() => void streams.splice(0));
  afterEach(() => {
    Object.assign(globalThis, { EventSource: source, fetch: fetched });
    onSignedOut(() => undefined);
  });

  const answered = (body: object, status = 200) => ({
    ok: status === 200,
    status,
    json: () => Promise.resolve(body),
  });
  const settled = () => new Promise((resolve) => setImmediate(resolve));

  it('has one stream for all filters, and shows no page that was asked for by an earlier one', async () => {
    const pages: { readonly path: string; answer(ids: string): void }[] = [];
    const fetch = (path: string, { signal }: { signal: AbortSignal }) =>
      new Promise((resolve, reject) => {
        if (!path.startsWith('/v1/machines')) return resolve(answered({ total: 0, states: [] }));
        const answer = (of: string) => resolve(answered({ machines: Array.from(of, (id) => machine(id)), next: null }));
        pages.push({ path, answer });
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      });
    Object.assign(globalThis, { EventSource: Stream, fetch });
    let shown: Fleet | null = null;

    const follower = new FleetFollower(filter('all'), (fleet) => (shown = fleet));
    streams[0]?.dispatchEvent(new Event('snapshot'));
    follower.show(filter('present', 'b'));
    pages[0]?.answer('abc');
    pages[1]?.answer('b');
    await settled();
    expect(streams).toHaveLength(1);
    expect(pages.map(({ path }) => path)).toEqual([
      '/v1/machines?limit=200',
      '/v1/machines?presence=present&name=b&limit=200',
    ]);
    expect([ids(shown!.machines), shown!.isComplete, shown!.problem]).toEqual(['b', true, null]);
    follower.close();
  });

  /** A follower of which each wait ends at once, at a plane that says who is signed in, or nobody. */
  const followed = (isSignedIn: boolean) => {
    const asked: string[] = [];
    const fetch = (path: string) => {
      asked.push(path);
      if (path === '/v1/me' && !isSignedIn) return Promise.resolve(answered({ code: 'not-signed-in' }, 401));
      return Promise.resolve(answered({ machines: [], next: null }));
    };
    Object.assign(globalThis, { EventSource: Stream, fetch });
    const seen: boolean[] = [];
    const waits: number[] = [];
    const follower = new FleetFollower(
      filter('all'),
      ({ isLive }) => seen.at(-1) === isLive || seen.push(isLive),
      (ms, work) => {
        waits.push(ms);
        return setTimeout(work, 0);
      },
    );
    return { asked, seen, waits, follower };
  };

  it('opens its stream again after an answer that is none, as that of an instance that is ending, later each time (U3, U9)', async () => {
    const { seen, waits, follower } = followed(true);
    streams[0]?.dispatchEvent(new Event('snapshot'));
    for (const opened of [1, 2, 3]) {
      streams.at(-1)?.failForGood();
      while (streams.length === opened) await settled();
    }
    expect(waits.map((wait, attempt) => wait >= 500 * 2 ** attempt)).toEqual([true, true, true]);
    streams.at(-1)?.dispatchEvent(new Event('snapshot'));
    expect(seen).toEqual([true, false, true]);
    streams.at(-1)?.failForGood();
    while (streams.length === 4) await settled();
    expect(waits[3]).toBeLessThan(1_000);
    follower.close();
  });

  it('leaves a connection that broke to the browser, which comes back by itself', async () => {
    const { asked, seen, follower } = followed(true);
    streams[0]?.dispatchEvent(new Event('heard'));
    streams[0]?.dispatchEvent(new Event('error'));
    await settled();
    expect([streams.length, asked, seen]).toEqual([1, [], [true, false]]);
    follower.close();
  });

  it.each<[string, (stream: Stream) => void]>([
    ['is refused', (stream) => stream.failForGood()],
    ['ends with it', (stream) => stream.dispatchEvent(new MessageEvent('end', { data: '{"reason":"signed-out"}' }))],
  ])('tells that the session has ended where the stream %s, and asks no more (U3, O29)', async (_how, happens) => {
    let isOut = false;
    onSignedOut(() => (isOut = true));
    const { asked, waits, follower } = followed(false);
    happens(streams[0]!);
    await settled();
    await settled();
    expect([isOut, asked, waits, streams.length, streams[0]?.readyState]).toEqual([true, ['/v1/me'], [], 1, 2]);
    follower.close();
  });

  it('does not come back once it is closed', async () => {
    const { waits, follower } = followed(true);
    streams[0]?.failForGood();
    follower.close();
    await settled();
    expect([waits, streams.length]).toEqual([[], 1]);
  });
});
