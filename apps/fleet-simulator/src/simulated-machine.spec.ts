import { expect, it } from '@jest/globals';
import type { CheckRequest, ProblemCode } from '@rollcall/wire';
import { chances } from './chance.js';
import { SimulatedMachine, type LifeEvent } from './simulated-machine.js';

const simulated = ({ seed = 1, eventEvery = 0 } = {}) => {
  let ids = 0;
  const id = () => (ids += 1).toString(16).padStart(8, '0');
  const events: LifeEvent[] = [];
  const machine = new SimulatedMachine({
    index: 7,
    credential: 'rcm_x',
    chance: chances(seed)(),
    eventEvery,
    newCheckId: () => `check-${id()}`,
    newBootId: id,
    onEvent: (event) => events.push(event),
  });
  return { machine, events };
};

const accept = (machine: SimulatedMachine, chain = 'c') => machine.learn({ kind: 'accepted', answer: { chain } });
const refuse = (machine: SimulatedMachine, code: ProblemCode, highestBoot: number | null = null) =>
  machine.learn({ kind: 'refused', code, highestBoot });

/** Takes turns, all accepted, and returns the checks; null: it was away. */
const live = (machine: SimulatedMachine, turns: number): (CheckRequest | null)[] =>
  Array.from({ length: turns }, () => {
    const check = machine.turn();
    if (check) accept(machine, `after ${check.checkId}`);
    return check;
  });

it('numbers its checks and presents the chain token of the newest answer', () => {
  const { machine } = simulated();
  const [first, second, third] = live(machine, 3);
  expect(first).toMatchObject({ sequence: 1, chain: null, blockers: null, said: 'running', boot: { counter: 1 } });
  expect(second).toMatchObject({ sequence: 2, chain: `after ${first?.checkId}`, blockers: [], boot: first?.boot });
  expect(third).toMatchObject({ sequence: 3, chain: `after ${second?.checkId}` });
});

it('says a check that was not answered, or not taken for now, again with its id and body', () => {
  const { machine } = simulated();
  const first = machine.turn();
  machine.learn({ kind: 'unanswered' });
  expect(machine.turn()).toEqual(first);
  for (const code of ['unavailable', 'slow-down', 'internal'] as const) {
    refuse(machine, code);
    expect(machine.turn()).toEqual(first);
  }
  accept(machine);
  expect(machine.turn()).toMatchObject({ sequence: 2 });
});

it('takes a higher boot when the plane has seen a later one', () => {
  const { machine } = simulated();
  live(machine, 2);
  machine.turn();
  refuse(machine, 'stale-check', 9);
  expect(machine.turn()).toMatchObject({ boot: { counter: 10 }, sequence: 1 });
});

it('drops a check that the plane cannot take, and checks in no more once its credential is not taken', () => {
  const { machine } = simulated();
  const first = machine.turn();
  refuse(machine, 'invalid-body');
  expect(machine.turn()?.checkId).not.toBe(first?.checkId);
  refuse(machine, 'credential-revoked');
  expect(machine.turn()).toBeNull();
  expect(machine.retired).toBe(true);
});

it('goes after a goodbye, heard or not, and comes back as a new boot', () => {
  const { machine, events } = simulated({ eventEvery: 1, seed: 3 });
  let goodbye: CheckRequest | null = null;
  while (goodbye?.said !== 'stopping') {
    goodbye = machine.turn();
    if (goodbye?.said !== 'stopping') accept(machine);
  }
  machine.learn({ kind: 'unanswered' });
  expect(goodbye.reason).toEqual(expect.any(String));
  expect(events.at(-1)).toBe('goodbye');
  expect(machine.turn()).toBeNull();
  let back: CheckRequest | null = null;
  for (let turn = 0; turn < 20 && !back; turn += 1) back = machine.turn();
  // It may be restarted once more in that very moment.
  expect(back?.boot.counter).toBeGreaterThan(goodbye.boot.counter);
  expect(back?.sequence).toBe(1);
});

it('lives as its seed says: everything happens, and the same again', () => {
  const lives = [5, 5, 6].map((seed) => {
    const { machine, events } = simulated({ seed, eventEvery: 5 });
    return { events, checks: live(machine, 400) };
  });
  const [one, again, other] = lives;
  expect(again).toEqual(one);
  expect(other?.events).not.toEqual(one?.events);
  expect(new Set(one?.events)).toEqual(new Set(['restart', 'goodbye', 'blockers', 'hostname']));
  const checks = one?.checks.flatMap((check) => check ?? []) ?? [];
  expect(new Set(checks.map(({ report }) => report?.hostname)).size).toBeGreaterThan(2);
  expect(new Set(checks.map(({ blockers }) => blockers?.join())).size).toBeGreaterThan(2);
  // Boots only go up, and within one the sequence is dense.
  for (const [before, after] of checks.map((check, index) => [checks[index - 1], check] as const).slice(1))
    expect([after?.boot.counter, after?.sequence]).toEqual(
      after?.boot.counter === before?.boot.counter
        ? [before?.boot.counter, (before?.sequence ?? 0) + 1]
        : [(before?.boot.counter ?? 0) + 1, 1],
    );
});

it('gives machines of one seed lives of their own', () => {
  const next = chances(1);
  const draws = Array.from({ length: 20 }, () => {
    const chance = next();
    return Array.from({ length: 5 }, () => chance.below(1_000)).join();
  });
  expect(new Set(draws).size).toBe(20);
});
