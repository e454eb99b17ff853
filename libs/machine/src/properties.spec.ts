import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { STOP_REASONS } from './facts.js';
import { machine, type MachineState } from './machine.js';
import { withoutResettable } from './resettable.js';
import { HonestAgent, StreamOnClock } from './testing/index.js';

/** What can happen around an honest agent: nothing of it is the agent's fault. */
type Weather =
  | {
      readonly kind: 'check';
      readonly fate: 'arrives' | 'answer lost' | 'request lost' | 'doubled' | 'retried' | 'late';
      readonly said: number;
    }
  | { readonly kind: 'restart' | 'rotate' | 'rename' | 'request' | 'upload' | 'refold' };

const weather: fc.Arbitrary<readonly Weather[]> = fc.array(
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        kind: fc.constant('check' as const),
        fate: fc.constantFrom('arrives', 'answer lost', 'request lost', 'doubled', 'retried', 'late'),
        said: fc.nat(7),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constantFrom('restart', 'rotate', 'rename', 'request', 'upload', 'refold') }),
    },
  ),
  { maxLength: 60 },
);

const BLOCKERS = [null, [], ['disk-full'], ['moon-phase', 'disk-full']];

/** Lets the weather happen. An honest check that is the newest must never be refused: `HonestAgent.send` throws if it is. */
const live = (days: readonly Weather[], refolds = true): StreamOnClock => {
  const stream = new StreamOnClock(Date.UTC(2026, 0, 1, 12));
  const agent = new HonestAgent(stream);
  agent.send(agent.next());
  for (const day of days) {
    stream.now += 30_000;
    switch (day.kind) {
      case 'restart':
        agent.restart();
        break;
      case 'rotate':
        // The key of a rotation is used once before the next rotation starts, as the agent does.
        agent.rotate();
        agent.send(agent.next());
        break;
      case 'rename':
        stream.do({ type: 'RenameMachine', name: `name-${stream.facts.length}` });
        break;
      case 'request':
        stream.do({ type: 'RequestLogTail' });
        break;
      case 'upload':
        agent.upload();
        break;
      case 'refold':
        if (refolds) stream.state = stream.recorded().reduce(machine.evolve, machine.initial());
        break;
      case 'check':
        checkIn(agent, stream, day);
    }
  }
  return stream;
};

const checkIn = (agent: HonestAgent, stream: StreamOnClock, { fate, said }: Weather & { kind: 'check' }): void => {
  const check = agent.next({
    said: said < 6 ? 'running' : 'stopping',
    reason: said < 6 ? null : (STOP_REASONS[said - 2] ?? null),
    blockers: BLOCKERS[said % 4] ?? null,
    notProbed: said % 5 === 0 ? ['disk-full'] : [],
    name: said % 2 === 0 ? null : `host-${said}`,
    report: said % 3 === 0 ? {} : { hostname: `host-${said}`, platform: 'linux' },
    policy: { interval: [30, 90, 10][said % 3] ?? 30, windowFloor: 120 },
  });
  const before = stream.facts.length;
  switch (fate) {
    case 'request lost':
      return;
    case 'answer lost':
      return agent.send(check, 'is lost');
    case 'arrives':
      return agent.send(check);
    case 'retried': {
      agent.send(check, 'is lost');
      const recorded = stream.facts.length;
      agent.send(check);
      expect(stream.facts.length).toBe(recorded);
      return;
    }
    case 'doubled': {
      agent.send(check);
      const recorded = stream.facts.length;
      expect(recorded).toBeGreaterThan(before);
      expect(stream.do(check)).toEqual([]);
      return;
    }
    case 'late': {
      agent.send(agent.next());
      const recorded = stream.facts.length;
      expect(() => stream.do(check)).toThrow('stale-check');
      expect(stream.facts.length).toBe(recorded);
    }
  }
};

const throughJson = (state: MachineState): unknown => JSON.parse(JSON.stringify(state));

describe('an honest machine in any weather', () => {
  it('is never refused its newest check, and records each check once', () => {
    fc.assert(
      fc.property(weather, (days) => {
        const stream = live(days);
        const ids = stream.facts.flatMap((fact) => (fact.type === 'CheckedIn' ? [fact.checkId] : []));
        expect(new Set(ids).size).toBe(ids.length);
      }),
    );
  });

  it('never looks like a copy (B2)', () => {
    fc.assert(
      fc.property(weather, (days) => {
        expect(live(days).facts.filter(({ type }) => type === 'CredentialForked')).toEqual([]);
      }),
    );
  });

  it('never carries a chain number twice, and the numbers rise', () => {
    fc.assert(
      fc.property(weather, (days) => {
        const issued = live(days, false).facts.flatMap((fact) =>
          fact.type === 'CheckedIn' ? [fact.chain?.issued ?? 0] : [],
        );
        expect(issued).toEqual(issued.map((_number, index) => index + 1));
      }),
    );
  });

  it('answers each request at most once, and only the newest: the stamps of requests and of receipts rise (O26, I16)', () => {
    fc.assert(
      fc.property(weather, (days) => {
        let [asked, received] = ['', ''];
        for (const fact of live(days).facts) {
          if (fact.type === 'LogTailRequested') {
            expect(fact.stamp > asked).toBe(true);
            asked = fact.stamp;
          }
          if (fact.type === 'LogTailReceived') {
            expect([fact.stamp, fact.stamp > received]).toEqual([asked, true]);
            received = fact.stamp;
          }
        }
      }),
    );
  });

  it('has facts in the order of their decision, the check-in last of each', () => {
    const order = [
      'GenerationConfirmed',
      'AgentStarted',
      'NameAdopted',
      'SelfReportChanged',
      'BlockersChanged',
      'StopAnnounced',
      'CheckedIn',
    ];
    fc.assert(
      fc.property(weather, (days) => {
        let newest = -1;
        for (const { type } of live(days).facts) {
          const place = order.indexOf(type);
          if (place < 0) continue;
          expect(place).toBeGreaterThan(newest);
          newest = type === 'CheckedIn' ? -1 : place;
        }
      }),
    );
  });
});

describe('the state of a machine', () => {
  it('survives JSON after every fact', () => {
    fc.assert(
      fc.property(weather, (days) => {
        let state = machine.initial();
        for (const fact of live(days).facts) {
          state = machine.evolve(state, fact);
          expect(throughJson(state)).toStrictEqual(state);
        }
      }),
    );
  });

  it('is a fold of what is recorded, in everything but what is listed as resettable', () => {
    fc.assert(
      fc.property(weather, (days) => {
        const stream = live(days, false);
        const refolded = stream.recorded().reduce(machine.evolve, machine.initial());
        expect(refolded).toEqual(withoutResettable(stream.state));
      }),
    );
  });

  it('holds nothing resettable but the chain', () => {
    const { state } = live([{ kind: 'check', fate: 'arrives', said: 0 }]);
    const reset = withoutResettable(state);
    expect(reset.checkIns).toEqual({ ...state.checkIns, chain: null });
    expect(reset.boots).toEqual(state.boots.map((record) => ({ ...record, chain: null })));
    expect(state.checkIns.chain).not.toBeNull();
    expect(state.boots[0]?.chain).toBe(2);
    expect({ ...reset, checkIns: state.checkIns, boots: state.boots }).toEqual(state);
  });

  it('can be reset at any time without a fact more or less, and without a refusal', () => {
    fc.assert(
      fc.property(weather, fc.nat(60), (days, at) => {
        const kinds = (happened: readonly Weather[]) => live(happened).facts.map(({ type }) => type);
        const quiet = days.filter(({ kind }) => kind !== 'refold');
        const reset = [...quiet.slice(0, at), { kind: 'refold' as const }, ...quiet.slice(at)];
        expect(kinds(reset)).toEqual(kinds(quiet));
      }),
    );
  });
});
