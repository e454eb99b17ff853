import { afterEach, describe, expect, it } from '@jest/globals';
import type { MachineView } from '@rollcall/wire';
import { FleetFollower, isWanted, withChange, type Filter, type Fleet, type Which } from './fleet.js';

const machine = (id: string, change: Partial<MachineView> = {}): MachineView =>
  ({
    id,
    name: `box ${id}`,
    hostname: 'node-7.example',
    presence: 'present',
    lifecycle: 'running',
    canTakeWork: true,
    revision: 5,
    ...change,
  }) as MachineView;
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
  ['blocked', { canTakeWork: false }, true],
  ['blocked', {}, false],
  ['blocked', { canTakeWork: false, presence: 'absent' }, false],
])('asked for %s, a machine with %j is shown: %s', (which, change, expected) =>
  expect(isWanted(machine('a', change), filter(which))).toBe(expected),
);

it('is found by a part of its name or of its hostname, in any case', () => {
  expect(isWanted(machine('a'), filter('all', 'BOX'))).toBe(true);
  expect(isWanted(machine('a'), filter('all', 'Node-7'))).toBe(true);
  expect(isWanted(machine('a'), filter('all', 'node-8'))).toBe(false);
});

describe('a follower', () => {
  const { EventSource: source, fetch: fetched } = globalThis;
  afterEach(() => void Object.assign(globalThis, { EventSource: source, fetch: fetched }));

  it('has one stream for all filters, and shows no page that was asked for by an earlier one', async () => {
    const streams: EventTarget[] = [];
    const pages: { readonly path: string; answer(ids: string): void }[] = [];
    class Stream extends EventTarget {
      constructor() {
        super();
        streams.push(this);
      }
      close(): void {}
    }
    const answered = (body: object) => ({ ok: true, status: 200, json: () => Promise.resolve(body) });
    const fetch = (path: string, { signal }: { signal: AbortSignal }) =>
      new Promise((resolve, reject) => {
        if (!path.startsWith('/v1/machines')) return resolve(answered({ total: 0, states: [] }));
        const answer = (of: string) => resolve(answered({ machines: Array.from(of, (id) => machine(id)), next: null }));
        pages.push({ path, answer });
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      });
    Object.assign(globalThis, { EventSource: Stream, fetch });
    let shown: Fleet | null = null;
    const settled = () => new Promise((resolve) => setImmediate(resolve));

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
});
