import { describe, expect, it } from '@jest/globals';
import { BLOCKER_CODES } from '@rollcall/machine';
import { blockerSummaries, episodeView } from './view.js';

const NOON = Date.UTC(2026, 0, 1, 12);

describe('the blockers that stand', () => {
  it('are explained by the catalogue, with how many machines they are on, since when, and for how long in all (O21)', () =>
    expect(blockerSummaries([{ code: 'disk-full', machines: 3, since: NOON, seconds: 90 }], false)).toEqual([
      {
        code: 'disk-full',
        known: true,
        sentence: 'the disk is full',
        fix: expect.stringContaining('free space'),
        dependsOn: expect.stringContaining('free space'),
        blocksWork: true,
        visibleWithin: 90,
        machines: 3,
        since: '2026-01-01T12:00:00.000Z',
        seconds: 90,
      },
    ]));

  it('come in the order of the catalogue, and codes that nobody here knows come last and are shown as such (O21)', () => {
    const on = (code: string) => ({ code, machines: 1, since: NOON, seconds: 0 });
    const summaries = blockerSummaries(['moon-phase', 'clock-wrong', 'bad-luck', 'disk-full'].map(on), false);
    expect(summaries.map(({ code, known }) => [code, known])).toEqual([
      ['disk-full', true],
      ['clock-wrong', true],
      ['bad-luck', false],
      ['moon-phase', false],
    ]);
    expect(summaries[3]).toMatchObject({ sentence: 'for a reason that this plane does not know', blocksWork: true });
  });

  it('can be asked for together with the rest of the catalogue', () => {
    const summaries = blockerSummaries([{ code: 'disk-full', machines: 1, since: NOON, seconds: 60 }], true);
    expect(summaries.map(({ code }) => code)).toEqual(BLOCKER_CODES);
    expect(summaries.filter(({ machines, since, seconds }) => machines + seconds === 0 && since === null)).toHaveLength(
      BLOCKER_CODES.length - 1,
    );
  });
});

describe('an episode', () => {
  const episode = {
    machine: 'm1',
    code: 'disk-full',
    sinceRevision: 7,
    since: NOON,
    until: NOON + 61_500,
    expiresAt: null,
  };

  it('tells what stood, who could fix it, and for how long (O32)', () =>
    expect(episodeView(episode, NOON + 3_600_000)).toEqual({
      code: 'disk-full',
      sentence: 'the disk is full',
      fix: expect.stringContaining('free space'),
      blocksWork: true,
      since: '2026-01-01T12:00:00.000Z',
      until: '2026-01-01T12:01:01.500Z',
      seconds: 61,
    }));

  it('that stands has lasted until the time of the answer, which is the record’s (B1)', () =>
    expect(episodeView({ ...episode, until: null }, NOON + 3_600_000)).toMatchObject({ until: null, seconds: 3_600 }));

  it('that has an expiry is over by itself then, as far as the reader has heard, and not before', () => {
    const pause = { ...episode, code: 'operator-paused', until: null, expiresAt: NOON + 600_000 };
    expect(episodeView(pause, NOON + 599_999)).toMatchObject({ until: null, seconds: 599 });
    for (const heardUntil of [NOON + 600_000, NOON + 3_600_000])
      expect(episodeView(pause, heardUntil)).toMatchObject({ until: '2026-01-01T12:10:00.000Z', seconds: 600 });
  });
});
