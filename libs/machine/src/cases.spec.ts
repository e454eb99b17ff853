import { describe, expect, it } from '@jest/globals';
import { lifecycle } from './lifecycle.js';
import { HonestAgent, StreamOnClock } from './testing/index.js';

const START = Date.UTC(2026, 0, 1, 10);
const lifecycleOf = (stream: StreamOnClock) =>
  lifecycle({ said: stream.state.lastWord?.said ?? null, presence: stream.presence(), deleted: false });

it('keeps a person’s rename through a hundred checks and a change of the hostname (C02, O24)', () => {
  const stream = new StreamOnClock(START);
  const agent = new HonestAgent(stream);
  const checks = (count: number, name: string | null, hostname: string) => {
    for (let n = 0; n < count; n += 1) {
      agent.send(agent.next({ name, report: { hostname } }));
      stream.now += 30_000;
    }
  };

  checks(1, null, 'ip-10-0-0-7');
  expect(stream.state.name).toBeNull();
  checks(1, 'ip-10-0-0-7', 'ip-10-0-0-7');
  expect(stream.state.name?.value).toBe('ip-10-0-0-7');
  stream.do({ type: 'RenameMachine', name: 'build-box' });
  checks(100, 'ip-10-0-0-7', 'ip-10-0-0-7');
  checks(10, 'ip-10-0-0-9', 'ip-10-0-0-9');

  expect(stream.state.name).toEqual({ value: 'build-box', by: 'person' });
  expect(stream.state.report.hostname).toBe('ip-10-0-0-9');
  expect(stream.facts.filter(({ type }) => type === 'NameAdopted' || type === 'MachineRenamed')).toEqual([
    { type: 'NameAdopted', name: 'ip-10-0-0-7' },
    { type: 'MachineRenamed', name: 'build-box' },
  ]);
});

describe('an interval that a person sets (C10, O16, O22)', () => {
  it('of 90 s moves the line to 270 s, from the answer that issued it on', () => {
    const stream = new StreamOnClock(START);
    const agent = new HonestAgent(stream);
    agent.send(agent.next());
    stream.now += 30_000;
    agent.send(agent.next({ policy: { interval: 90, windowFloor: 120 } }));
    stream.now += 270_000;
    expect(stream.presence()).toBe('present');
    stream.now += 1;
    expect(stream.presence()).toBe('absent');
  });

  it('of 30 s after 90 s moves it back when the machine shows that it knows, and not before', () => {
    const stream = new StreamOnClock(START);
    const agent = new HonestAgent(stream);
    const slow = { interval: 90, windowFloor: 120 };
    agent.send(agent.next({ policy: slow }));
    agent.send(agent.next({ policy: slow }));
    agent.send(agent.next(), 'is lost');
    expect(stream.state.checkIns.window).toBe(270);
    agent.send(agent.next());
    expect(stream.state.checkIns.window).toBe(270);
    agent.send(agent.next());
    expect(stream.state.checkIns.window).toBe(120);
  });

  it.each([
    [30, 'the check'],
    [90, 'the check'],
    [30, 'the answer'],
    [90, 'the answer'],
  ])('of %d s causes no absence in 24 hours in which every tenth time %s is lost', (interval, lost) => {
    const stream = new StreamOnClock(START);
    const agent = new HonestAgent(stream);
    const policy = { interval, windowFloor: 120 };
    const seen = new Set<string>();
    agent.send(agent.next({ policy }));
    for (let n = 1; stream.now < START + 86_400_000; n += 1) {
      // the latest that a jitter of 20 % allows, in steps of ten seconds so that nothing between two checks is overlooked
      const due = stream.now + agent.interval * 1_200;
      for (; stream.now < due; stream.now = Math.min(due, stream.now + 10_000)) seen.add(stream.presence());
      seen.add(stream.presence());
      const bad = n % 10 === 0;
      if (bad && lost === 'the check') agent.next({ policy });
      else agent.send(agent.next({ policy }), bad ? 'is lost' : 'arrives');
    }
    expect([...seen]).toEqual(['present']);
  });

  it('shorter or longer by turns causes no absence either, with answers lost', () => {
    const stream = new StreamOnClock(START);
    const agent = new HonestAgent(stream);
    const seen = new Set<string>();
    const intervals = [30, 90, 30, 30, 45, 3600, 30, 10, 90, 30];
    for (let n = 0; n < 400; n += 1) {
      const interval = intervals[(n * 7) % 10] ?? 30;
      agent.send(agent.next({ policy: { interval, windowFloor: 120 } }), n % 3 === 2 ? 'is lost' : 'arrives');
      stream.now += agent.interval * 1_100;
      seen.add(stream.presence());
    }
    expect([...seen]).toEqual(['present']);
  });
});

it('asks no machine for its clock: presence follows the record’s time alone (C12)', () => {
  // Slow, fast and stepping machines send the same checks, because a check carries no time that a rule reads.
  const stream = new StreamOnClock(START);
  const agent = new HonestAgent(stream);
  const seen = new Set<string>();
  for (let n = 0; n < 20; n += 1) {
    agent.send(agent.next());
    stream.now += 30_000;
    seen.add(stream.presence());
  }
  expect([...seen]).toEqual(['present']);
  const killedAt = stream.lastCheckAt ?? 0;
  stream.now = killedAt + 120_000;
  expect(stream.presence()).toBe('present');
  stream.now = killedAt + 120_001;
  expect(stream.presence()).toBe('absent');
});

describe('a goodbye (C17, O23)', () => {
  const running = () => {
    const stream = new StreamOnClock(START);
    const agent = new HonestAgent(stream);
    agent.send(agent.next());
    stream.now += 30_000;
    return { stream, agent };
  };
  const wordsUntilAbsent = (stream: StreamOnClock) => {
    const words: unknown[] = [];
    for (let second = 0; second <= 120; second += 1, stream.now += 1_000) words.push(lifecycleOf(stream));
    return { inWindow: new Set(words), after: lifecycleOf(stream) };
  };

  it('that commits is one event, and is stopped when the window is over, not before', () => {
    const { stream, agent } = running();
    agent.send(agent.next({ said: 'stopping', reason: 'signal' }));
    expect(wordsUntilAbsent(stream)).toEqual({ inWindow: new Set(['stopping']), after: 'stopped' });
    expect(stream.facts.filter(({ type }) => type === 'StopAnnounced')).toHaveLength(1);
  });

  it('whose answer is lost is one event however often it is sent again', () => {
    const { stream, agent } = running();
    const goodbye = agent.next({ said: 'stopping', reason: 'signal' });
    agent.send(goodbye, 'is lost');
    agent.send(goodbye, 'is lost');
    agent.send(agent.next({ said: 'stopping', reason: 'signal' }));
    expect(wordsUntilAbsent(stream)).toEqual({ inWindow: new Set(['stopping']), after: 'stopped' });
    expect(stream.facts.filter(({ type }) => type === 'StopAnnounced')).toHaveLength(1);
  });

  it('that never came leaves it unknown, never stopped', () => {
    const { stream, agent } = running();
    agent.send(agent.next());
    expect(wordsUntilAbsent(stream)).toEqual({ inWindow: new Set(['running']), after: 'unknown' });
  });

  it('is history as soon as the machine checks again as running', () => {
    const { stream, agent } = running();
    agent.send(agent.next({ said: 'stopping', reason: 'update' }));
    stream.now += 500_000;
    expect(lifecycleOf(stream)).toBe('stopped');
    agent.restart();
    agent.send(agent.next());
    expect(lifecycleOf(stream)).toBe('running');
  });
});
