import { describe, expect, it } from '@jest/globals';
import type { HistoryEntry, HistoryPage } from '@rollcall/wire';
import type { Context } from '../context.js';
import { EXIT, Failure } from '../failure.js';
import { Output } from '../output/output.js';
import { Plane } from '../plane/plane.js';
import type { TransportRequest } from '../plane/transport.js';
import { SessionFile } from '../session/session-file.js';
import { captured } from '../testing/captured.js';
import { showHistory, type WantedHistory } from './history.js';

const at = (minute: number): string => new Date(Date.UTC(2026, 10, 29, 14, minute)).toISOString();
const event = (revision: number, minute: number, type: string, body: object, sentence: string): HistoryEntry => ({
  kind: 'event',
  revision,
  at: at(minute),
  type,
  actor: { kind: 'person', id: 'ada' },
  body: body as Record<string, unknown>,
  sentence,
});
const checks = (revision: number, from: number, until: number, count: number, continues?: true): HistoryEntry => ({
  kind: 'checks',
  revision,
  at: at(from),
  until: at(until),
  count,
  said: 'running',
  generation: 1,
  ...(continues && { continues }),
  sentence: `checked in ${count} times`,
});

const ENTRIES: readonly (readonly HistoryEntry[])[] = [
  [
    event(1, 0, 'MachineAdmitted', { machine: 'm', token: 't', via: 'preadmission' }, 'admitted by Ada'),
    event(2, 0, 'GenerationRegistered', { generation: 1, keyHash: 'k1' }, 'credential 1 registered'),
    event(3, 1, 'GenerationConfirmed', { generation: 1 }, 'credential 1 used for the first time'),
    checks(4, 1, 9, 20_000),
  ],
  [
    checks(20_004, 10, 12, 5, true),
    {
      kind: 'not-observed',
      at: at(13),
      until: at(20),
      sentence: 'not observed: the plane was not listening for 7 min',
    },
    checks(20_009, 21, 22, 3),
    event(20_012, 30, 'MachineDeleted', { identifierHash: 'i' }, 'deleted by Ada'),
    {
      kind: 'refused',
      at: at(31),
      code: 'credential-revoked',
      generation: 1,
      keyHash: 'k1',
      lastAcceptedAt: at(22),
      sentence: 'credential 1 was refused (credential-revoked), 9 min after the last accepted check',
    },
  ],
];
const PAGES = ENTRIES.map((entries, index): HistoryPage => ({
  asOf: at(32),
  behind: false,
  machine: { id: 'm', name: 'forge' },
  entries,
  next: index === 0 ? '20003.1.0.0' : null,
  facts: { through: index === 0 ? 20_003 : 20_012, recorded: 20_012 },
}));

/** What a plane answers that cannot read its record just then. */
const AWAY = 'unavailable';

/** Runs it against a plane of two pages, the second of which may never come. */
const history = async (
  wanted: WantedHistory,
  {
    json = false,
    terminal = false,
    pages = PAGES,
  }: { json?: boolean; terminal?: boolean; pages?: readonly (HistoryPage | typeof AWAY)[] } = {},
) => {
  const asked: TransportRequest[] = [];
  const surroundings = captured({ terminal });
  const plane = new Plane(
    'https://plane',
    (request) => {
      asked.push(request);
      const body = pages[asked.length - 1];
      if (body === AWAY) return Promise.resolve({ status: 503, body: { code: AWAY, title: 'away' }, retryAfter: 1 });
      return Promise.resolve(body ? { status: 200, body } : { status: 404, body: { code: 'machine-not-found' } });
    },
    'rco_',
  );
  const context: Context = {
    surroundings,
    output: new Output(surroundings.stdout, surroundings.stderr, { NO_COLOR: '1' }, json),
    sessions: new SessionFile('/nowhere'),
    plane: () => Promise.resolve(plane),
    planeAt: () => plane,
  };
  const failure = await showHistory('forge', wanted, context).then(
    () => null,
    (error: unknown) => error,
  );
  return { ...surroundings.printed, asked: asked.map(({ path }) => path), failure };
};

describe('the history of a machine', () => {
  it('is read page by page and told in order; a run of checks that pages have parted is one (U4)', async () => {
    const { out, err, asked } = await history({});
    // By its id from then on: the name may be another machine's by the time of the second page.
    expect(asked).toEqual(['/v1/machines/forge/history?after=start', '/v1/machines/m/history?after=20003.1.0.0']);
    expect(out.split('\n')).toEqual([
      'WHEN                                         WHAT',
      '2026-11-29 14:00:00Z                         admitted by Ada',
      '2026-11-29 14:00:00Z                         credential 1 registered',
      '2026-11-29 14:01:00Z                         credential 1 used for the first time',
      '2026-11-29 14:01:00Z – 2026-11-29 14:12:00Z  checked in 20005 times',
      '2026-11-29 14:13:00Z – 2026-11-29 14:20:00Z  not observed: the plane was not listening for 7 min',
      '2026-11-29 14:21:00Z – 2026-11-29 14:22:00Z  checked in 3 times',
      '2026-11-29 14:30:00Z                         deleted by Ada',
      '2026-11-29 14:31:00Z                         credential 1 was refused (credential-revoked), 9 min after the last accepted check',
      '',
    ]);
    expect(err).toBe('');
  });

  it('is one JSON document for scripts, and none where it was cut short (U4)', async () => {
    const { out } = await history({}, { json: true });
    const { entries, machine } = JSON.parse(out) as HistoryPage;
    expect([machine, entries.length, entries[3]]).toEqual([
      { id: 'm', name: 'forge' },
      8,
      { ...checks(4, 1, 12, 20_005), sentence: 'checked in 20005 times' },
    ]);
    const cut = await history({}, { json: true, pages: PAGES.slice(0, 1) });
    expect(cut.failure).toBeInstanceOf(Error);
    expect(() => JSON.parse(cut.out) as unknown).toThrow(SyntaxError);
    const empty = PAGES.slice(1).map((page) => ({ ...page, entries: [] }));
    expect(JSON.parse((await history({}, { json: true, pages: empty })).out)).toMatchObject({ entries: [] });
  });

  it('is read on after a page that the plane could not answer at once or twice, and given up after three times (U4)', async () => {
    const [first, second] = PAGES as [HistoryPage, HistoryPage];
    const patient = await history({}, { pages: [AWAY, first, AWAY, AWAY, second] });
    expect([patient.failure, patient.out]).toEqual([null, (await history({})).out]);
    const away = await history({}, { pages: [first, AWAY, AWAY, AWAY, second] });
    expect([away.failure, away.asked.length]).toEqual([expect.any(Failure), 4]);
  });

  it('has no run of checks in two parts where something else comes first on the later page (U4)', async () => {
    const [first, second] = ENTRIES.map((entries) => [...entries]) as [HistoryEntry[], HistoryEntry[]];
    const [, gap, , , refused] = second as [HistoryEntry, HistoryEntry, HistoryEntry, HistoryEntry, HistoryEntry];
    const rest = checks(20_004, 21, 22, 5, true);
    const pages = [first, [gap, refused], [refused, rest]].map((entries, index) => ({
      ...PAGES[0]!,
      entries,
      next: index === 2 ? null : `20003.1.${index}.0`,
    }));
    const { entries } = JSON.parse((await history({}, { json: true, pages })).out) as HistoryPage;
    expect(entries.slice(3)).toEqual([checks(4, 1, 22, 20_005), gap, refused, refused]);
  });

  it('says that it is old where any page of it was (U7)', async () => {
    const [first, second] = PAGES as [HistoryPage, HistoryPage];
    const pages = [{ ...first, asOf: at(3), behind: true }, second];
    expect((await history({}, { pages })).err).toContain('As of 2026-11-29 14:03:00Z');
    const { asOf, behind } = JSON.parse((await history({}, { json: true, pages })).out) as HistoryPage;
    expect([asOf, behind]).toEqual([at(3), true]);
  });

  it('asks nothing of the plane where it would end before it begins, and names both ends', async () => {
    const { failure, asked } = await history({ from: at(2), to: at(1) });
    expect([failure, asked]).toEqual([expect.objectContaining({ exitCode: EXIT.usage }), []]);
    expect(String(failure)).toMatch(/--from.*--to/);
    expect((await history({ from: at(1), to: at(1) })).failure).toBeNull();
  });

  it('tells a person who waits at a terminal how far it has come, and nobody else', async () => {
    expect((await history({}, { terminal: true })).err).toContain('20,003 of 20,012 facts read');
    expect((await history({})).err).toBe('');
  });

  it('is bounded by times where it is asked to be', async () =>
    expect((await history({ from: at(1), to: at(2) })).asked[0]).toBe(
      '/v1/machines/forge/history?after=start&from=2026-11-29T14%3A01%3A00.000Z&to=2026-11-29T14%3A02%3A00.000Z',
    ));

  it('is the newest lines alone where only so many are wanted', async () => {
    const { asked, out } = await history({ limit: 5 });
    expect(asked).toEqual(['/v1/machines/forge/history?limit=5']);
    expect(out).toContain('checked in 20000 times');
  });
});

describe('the account of its credential', () => {
  it('begins with who admitted it, by which channel and on whose approval (U4, O3)', async () => {
    expect((await history({ credentials: true })).out).toMatch(/^2026-11-29 14:00:00Z  admitted by Ada\n/);
    const { out } = await history({ credentials: true }, { json: true });
    expect((JSON.parse(out) as { admission: unknown }).admission).toEqual({
      at: at(0),
      by: expect.objectContaining({ kind: 'person' }),
      via: 'preadmission',
      id: 't',
    });
  });

  it('has one row per generation (U4)', async () => {
    const { out } = await history({ credentials: true });
    expect(out).toMatch(
      /1 +2026-11-29 14:00:00Z +20008 +2026-11-29 14:01:00Z +2026-11-29 14:22:00Z +revoked 2026-11-29 14:30:00Z +first 2026-11-29 14:31:00Z/,
    );
    const document = JSON.parse((await history({ credentials: true }, { json: true })).out) as { generations: unknown };
    expect(document.generations).toEqual([
      {
        generation: 1,
        keyHash: 'k1',
        registeredAt: at(0),
        confirmedAt: at(1),
        checks: { count: 20_008, first: at(1), last: at(22) },
        ended: { how: 'revoked', at: at(30) },
        refused: { count: 1, first: at(31), last: at(31) },
        copied: null,
      },
    ]);
  });
});
