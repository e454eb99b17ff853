import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  allowsCommands,
  look,
  makesSense,
  nextLookAt,
  nextProbeAt,
  probeSent,
  read,
  replied,
  silenceOf,
  started,
  TIMING,
  type Watch,
} from './index.js';

const START = 1_000_000;
const fresh = started(TIMING, START);
const answered = (watch: Watch, at: number) => replied(probeSent(watch, at - 20), at);

describe('the timing of every session', () => {
  it('is a probe every 15 s and a deadline of 45 s (T-1.10)', () =>
    expect(TIMING).toEqual({ interval: 15_000, deadline: 45_000 }));

  it('makes sense', () => expect(makesSense(TIMING)).toBe(true));

  it.each([
    ['an interval of zero', { interval: 0, deadline: 45_000 }],
    ['a negative interval', { interval: -15_000, deadline: 45_000 }],
    ['an interval that is no number', { interval: Number.NaN, deadline: 45_000 }],
    ['a deadline of zero', { interval: 15_000, deadline: 0 }],
    ['a negative deadline', { interval: -50_000, deadline: -45_000 }],
    ['a deadline that is no number', { interval: 15_000, deadline: Number.NaN }],
    ['a deadline of exactly two intervals', { interval: 15_000, deadline: 30_000 }],
  ])('would not make sense with %s (T-2.9)', (_, timing) => expect(makesSense(timing)).toBe(false));

  it('would make sense with a deadline one millisecond longer than two intervals (T-2.9)', () =>
    expect(makesSense({ interval: 15_000, deadline: 30_001 })).toBe(true));
});

describe('silence', () => {
  it('counts from the start before the first reply (T-1.9)', () =>
    expect(silenceOf(fresh, START + 45_001)).toBe(45_001));

  it('counts from the newest reply after that', () =>
    expect(silenceOf(answered(answered(fresh, START + 15_000), START + 30_100), START + 40_100)).toBe(10_000));

  it.each([
    [0, 'alive'],
    [30_000, 'alive'],
    [30_001, 'unresponsive'],
    [45_000, 'unresponsive'],
    [45_001, 'lost'],
  ] as const)('of %i ms means %s, from the start and from a reply (T-1.3, C29)', (silence, verdict) => {
    expect(look(fresh, START + silence)).toEqual({ verdict, silence });
    expect(look(answered(fresh, START + 7), START + 7 + silence)).toEqual({ verdict, silence });
  });

  it('is not ended by a probe that only left', () =>
    expect(silenceOf(probeSent(fresh, START + 15_000), START + 20_000)).toBe(20_000));
});

describe('the next probe', () => {
  it('leaves one interval after the start (T-1.2)', () => expect(nextProbeAt(fresh)).toBe(START + 15_000));

  it('leaves one interval after the newest reply, and not after the probe before (T-1.2)', () =>
    expect(nextProbeAt(replied(probeSent(fresh, START + 15_000), START + 40_000))).toBe(START + 55_000));

  it('does not leave while another waits (T-1.2)', () =>
    expect(nextProbeAt(probeSent(fresh, START + 15_000))).toBeNull());
});

describe('the next look', () => {
  it('is at the first moment that would be a loss, because at the deadline itself nothing is decided (T-1.3)', () => {
    expect(nextLookAt(fresh)).toBe(START + 45_001);
    expect(nextLookAt(answered(fresh, START + 15_000))).toBe(START + 60_001);
  });

  it('finds a loss when nothing came, and never one millisecond earlier (T-1.3)', () =>
    fc.assert(
      fc.property(
        fc.nat(1_000_000),
        fc.array(fc.nat(60_000)),
        fc.record({ interval: fc.integer({ min: 1, max: 30_000 }), more: fc.integer({ min: 1, max: 60_000 }) }),
        (start, replies, { interval, more }) => {
          let at = start;
          let watch = started({ interval, deadline: 2 * interval + more }, at);
          for (const later of replies) watch = answered(watch, (at += later));
          expect(look(watch, nextLookAt(watch)).verdict).toBe('lost');
          expect(look(watch, nextLookAt(watch) - 1).verdict).toBe('unresponsive');
        },
      ),
    ));
});

it('takes the time of a round trip from the probe to its answer', () => {
  expect(fresh.roundTrip).toBeNull();
  expect(replied(probeSent(fresh, START + 15_000), START + 15_180).roundTrip).toBe(180);
  expect(replied(fresh, START + 15_180).roundTrip).toBeNull();
});

describe('the reading of a disposal', () => {
  it('tells a loss that was declared from a silence (T-2.8)', () => {
    expect(read(true, fresh, START)).toEqual({ lost: true, unresponsive: false });
    expect(read(false, fresh, START + 30_001)).toEqual({ lost: false, unresponsive: true });
    expect(read(false, fresh, START + 45_001)).toEqual({ lost: false, unresponsive: true });
    expect(read(false, fresh, START + 30_000)).toEqual({ lost: false, unresponsive: false });
  });

  it('finds nothing amiss where no watchdog runs (T-2.8)', () =>
    expect(read(false, null, START)).toEqual({ lost: false, unresponsive: false }));

  it('is a value that nobody can change afterwards (T-2.8)', () =>
    expect(Object.isFrozen(read(false, fresh, START))).toBe(true));

  it('allows commands only on a transport that answers (T-2.8)', () => {
    expect(allowsCommands({ lost: false, unresponsive: false })).toBe(true);
    expect(allowsCommands({ lost: true, unresponsive: false })).toBe(false);
    expect(allowsCommands({ lost: false, unresponsive: true })).toBe(false);
  });
});
