import { describe, expect, it } from '@jest/globals';
import type { ClockSighting } from '../check/clock-sighting.js';
import { clockOpinion, ClockProbe, NO_OPINION, type ClockOpinion } from './clock-probe.js';

const SENT = Date.UTC(2026, 0, 1, 12);

/** The plane's clock is ahead of this one by so many seconds (behind: less than zero); the round trip took so many, half of it each way. */
const sighting = (ahead: number, roundTrip = 0.2): ClockSighting => ({
  sentAt: SENT,
  receivedAt: SENT + roundTrip * 1_000,
  serverTime: SENT + (ahead + roundTrip / 2) * 1_000,
});

const after = (...sightings: readonly ClockSighting[]): ClockOpinion['clock'] =>
  sightings.reduce(clockOpinion, NO_OPINION).clock;

describe('the clock of this machine', () => {
  it.each([90, -90, 86_400 * 365, -86_400 * 365])(
    'is wrong after three accepted checks in a row that differ by more than a minute, not before (%d s)',
    (ahead) => {
      expect(after(sighting(0), sighting(ahead), sighting(ahead))).toBe('right');
      expect(after(sighting(0), sighting(ahead), sighting(ahead), sighting(ahead))).toBe('wrong');
    },
  );

  it('is right again after one that does not differ, and then three are needed anew', () => {
    const wrong = [sighting(90), sighting(90), sighting(90)];
    expect(after(...wrong, sighting(30))).toBe('right');
    expect(after(...wrong, sighting(30), sighting(90), sighting(90))).toBe('right');
    expect(after(...wrong, sighting(30), ...wrong)).toBe('wrong');
  });

  it('is not known before one check has shown it right or three have shown it wrong (O25)', () => {
    expect(after()).toBe('unknown');
    expect(after(sighting(90), sighting(90))).toBe('unknown');
    expect(after(sighting(90), sighting(90), sighting(90))).toBe('wrong');
    expect(after(sighting(90), sighting(0))).toBe('right');
  });

  it('is judged with half the round trip taken off, whichever way it differs', () => {
    const [ahead, behind] = [sighting(64.9, 9.8), sighting(-64.9, 9.8)];
    for (const differs of [sighting(65, 9.8), sighting(-65, 9.8)])
      expect(after(differs, differs, differs)).toBe('wrong');
    // The answer may have been written five seconds before or after the middle: this could be a minute or less.
    for (const explained of [ahead, behind]) expect(after(explained, explained, explained)).toBe('unknown');
  });

  it('is neither cleared nor blamed by what the time under way could explain', () => {
    const unclear = sighting(57, 9.8);
    expect(after(sighting(90), sighting(90), unclear, sighting(90))).toBe('wrong');
    expect(after(sighting(90), sighting(90), sighting(90), unclear)).toBe('wrong');
    expect(after(sighting(0), unclear, unclear, unclear)).toBe('right');
  });

  it.each([3_600, -3_600])('is not blamed when it was set while a check was under way (by %d s)', (step) => {
    const wasSet = { sentAt: SENT, receivedAt: SENT + step * 1_000, serverTime: SENT + step * 1_000 - 100 };
    expect(after(sighting(0), wasSet, wasSet, wasSet)).toBe('right');
  });
});

describe('the probe of the clock', () => {
  it('looks again when its opinion has changed, not with every check', async () => {
    const probe = new ClockProbe();
    let rung = 0;
    probe.onLookAgain(() => (rung += 1));
    await expect(probe.probe()).rejects.toThrow('too few checks');
    for (let n = 0; n < 10; n += 1) probe.observe(sighting(0));
    await expect(probe.probe()).resolves.toEqual([]);
    for (let n = 0; n < 10; n += 1) probe.observe(sighting(90));
    await expect(probe.probe()).resolves.toEqual(['clock-wrong']);
    expect(rung).toBe(2);
  });
});
