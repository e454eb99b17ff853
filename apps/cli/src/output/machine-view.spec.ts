import { describe, expect, it } from '@jest/globals';
import type { MachineDetail } from '@rollcall/wire';
import { captured } from '../testing/captured.js';
import { machineView } from '../testing/machine.js';
import { shortIds, showList, showMachine } from './machine-view.js';
import { Output } from './output.js';

const asOf = '2026-11-29T14:02:12.000Z';

const print = (draw: (output: Output) => void, options: { terminal?: boolean; env?: Record<string, string> } = {}) => {
  const surroundings = captured({ terminal: options.terminal ?? false });
  draw(new Output(surroundings.stdout, surroundings.stderr, options.env ?? {}, false));
  return surroundings.printed;
};
const list = (machine = machineView(), age = { asOf: asOf as string | null, behind: false }) => ({
  ...age,
  machines: [machine],
});
const blocked = machineView({
  blockers: [
    {
      code: 'disk-full',
      since: '2026-11-29T14:02:00.000Z',
      sentence: 'the disk is full',
      fix: 'whoever looks after the machine: free space',
      blocksWork: true,
    },
  ],
  canTakeWork: false,
  sentence: 'present, but cannot take work: the disk is full (disk-full)',
});

describe('the list of machines', () => {
  it('shows the name that a person gave, and the reported hostname separately (C02, O24)', () => {
    const { out } = print((output) => showList(output, list()));
    expect(out).toMatch(/NAME +HOSTNAME/);
    expect(out).toMatch(/build-box +ip-10-0-0-7/);
  });

  it('says "present, but cannot take work" as a sentence of its own, with the blocker named (O32)', () => {
    const { out } = print((output) => showList(output, list(blocked)));
    expect(out).toContain('present, but cannot take work: the disk is full (disk-full)');
  });

  it('keeps presence and lifecycle apart, with the reason of a stop (O23)', () => {
    const stopped = machineView({ presence: 'absent', lifecycle: 'stopped', stopReason: 'person' });
    expect(print((output) => showList(output, list(stopped))).out).toMatch(/absent +stopped \(person\)/);
    const unknown = machineView({ presence: 'absent', lifecycle: 'unknown', stopReason: null });
    expect(print((output) => showList(output, list(unknown))).out).toMatch(/absent +unknown/);
  });

  it('counts the time since a check by the record, not by this computer', () =>
    expect(print((output) => showList(output, list())).out).toContain('12 s ago'));

  it('says how old an old answer is, and nothing about a new one (U3)', () => {
    expect(print((output) => showList(output, list(machineView(), { asOf, behind: true }))).err).toBe(
      'As of 2026-11-29 14:02:12Z: what came later is not shown yet.\n',
    );
    expect(print((output) => showList(output, list())).err).toBe('');
  });

  it('tells an empty list from a filter that nothing matches (U6)', () => {
    const nothing = { asOf, behind: false, machines: [] };
    expect(print((output) => showList(output, nothing)).out).toContain('`rollcall token issue`');
    expect(print((output) => showList(output, nothing, { isNarrowed: true })).out).toBe('No machine matches.\n');
  });

  it('never hands a control character of a name to the terminal (U6)', () => {
    const hostile = machineView({ name: '\u001b[2J\u009b1mroot\u202e', hostname: 'a\nb', sentence: '\u0007' });
    const { out } = print((output) => showList(output, list(hostile)), { terminal: false });
    expect(out).toContain('\\u001b[2J\\u009b1mroot\\u202e');
    expect(out).toContain('a\\u000ab');
    expect(out.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e]/u);
  });

  it('colours a terminal only, and not with NO_COLOR', () => {
    const coloured = '\u001b[32mpresent';
    expect(print((output) => showList(output, list()), { terminal: true }).out).toContain(coloured);
    expect(print((output) => showList(output, list()), { terminal: true, env: { NO_COLOR: '1' } }).out).not.toContain(
      '\u001b',
    );
    expect(print((output) => showList(output, list()), { env: { FORCE_COLOR: '1', CI: '1' } }).out).not.toContain(
      '\u001b',
    );
  });
});

it('shows of one machine who can fix what blocks it (O21, O32)', () => {
  const { out } = print((output) =>
    showMachine(output, { machine: blocked, promise: null, olderUse: null, asOf, behind: false }),
  );
  expect(out).toContain('present, but cannot take work: the disk is full (disk-full)');
  expect(out).toContain(
    'Blocker       disk-full: the disk is full, since 2026-11-29 14:02:00Z (12 s ago); to be fixed by whoever looks after the machine: free space',
  );
  expect(out).toMatch(/^Takes work +no$/m);
});

it('shows of one machine what only informs as a note, and that it takes work (O32)', () => {
  const noted = machineView({
    blockers: [{ code: 'stops-at-logout', since: asOf, sentence: 'it stops', fix: 'somebody', blocksWork: false }],
  });
  const { out } = print((output) =>
    showMachine(output, { machine: noted, promise: null, olderUse: null, asOf, behind: false }),
  );
  expect(out).toContain('Note          stops-at-logout: it stops, since 2026-11-29 14:02:12Z (just now)');
  expect(out).toMatch(/^Takes work +yes$/m);
});

it('shows since when the tail of a log is asked for, and nothing where it is not (O26)', () => {
  const shown = (logTail: string | null) =>
    print((output) =>
      showMachine(output, {
        machine: machineView({ requests: { logTail, rotation: null } }),
        promise: null,
        olderUse: null,
        asOf,
        behind: false,
      }),
    ).out;
  expect(shown('2026-11-29T14:02:12.000Z')).toMatch(
    /Log tail +asked for 2026-11-29 14:02:12Z \(.*\); it comes after its next check/,
  );
  expect(shown(null)).not.toContain('Log tail');
});

it('names a newer credential that is waited for: asked for, or registered and not used yet (N26)', () => {
  const shown = (changes: Parameters<typeof machineView>[0]) =>
    print((output) =>
      showMachine(output, { machine: machineView(changes), promise: null, olderUse: null, asOf, behind: false }),
    ).out;
  expect(shown({ requests: { logTail: null, rotation: asOf } })).toMatch(
    /^Rotation +asked for 2026-11-29 14:02:12Z \(just now\); it begins with its next check$/m,
  );
  expect(shown({ pendingGeneration: 2 })).toMatch(/^Generation +1; 2 is registered and counts from its first use$/m);
  expect(shown({})).not.toContain('Rotation');
});

it('shows refused claims as one, with how many are noted, the last, and what that called itself, quoted (C03)', () => {
  const refusedClaims = { count: 3, first: asOf, last: asOf, hostname: 'forge\u001b[2J' };
  const machine = machineView({ refusedClaims });
  const { out } = print((output) =>
    showMachine(output, { machine, promise: null, olderUse: null, asOf, behind: false }),
  );
  expect(out).toMatch(/^Claims +others claimed to be it and were refused, 3 noted, last 2026-11-29 14:02:12Z/m);
  expect(out).toContain('by one that calls itself "forge\\u001b[2J"');
});

it('shows the use of an older credential, and what to do where its holder is the right one (B2)', () => {
  const shown = (generation: number | null) => {
    const olderUse = { generation, at: asOf };
    return print((output) =>
      showMachine(output, { machine: machineView(), promise: null, olderUse, asOf, behind: false }),
    ).out;
  };
  expect(shown(1)).toMatch(
    /^Older key +the credential of generation 1 was used last 2026-11-29 14:02:12Z \(just now\), and refused; .*delete this machine/m,
  );
  expect(shown(null)).toMatch(/^Older key +an older credential was used last/m);
});

it('shows the pause that is in force: since when and until when, whose word it is, and why', () => {
  const pause = { since: asOf, until: null, note: 'a new disk', by: 'ada' };
  const shown = (changes: Parameters<typeof machineView>[0]) =>
    print((output) =>
      showMachine(output, { machine: machineView(changes), promise: null, olderUse: null, asOf, behind: false }),
    ).out;
  expect(shown({ pause })).toMatch(/^Paused +since 2026-11-29 14:02:12Z, until it is resumed, by ada: a new disk$/m);
  const ending = { ...pause, until: '2026-11-29T16:00:00.000Z' };
  expect(shown({ pause: ending })).toContain('until 2026-11-29 16:00:00Z, by ada');
  expect(shown({})).not.toContain('Paused');
});

it('shows what is promised of a machine, by which word, and whether it is kept (N11)', () => {
  const promises = [{ selector: 'label:site=berlin', schedule: 'daily 09:00-18:00 Europe/Berlin' }];
  const shown = (promise: MachineDetail['promise']) =>
    print((output) => showMachine(output, { machine: machineView(), promise, olderUse: null, asOf, behind: false }))
      .out;
  expect(shown({ promises, state: 'held', next: null })).toMatch(
    /^Promise +daily 09:00-18:00 Europe\/Berlin \(for label:site=berlin\)\nPromise is +held$/m,
  );
  expect(shown({ promises, state: 'broken', next: null })).toMatch(/Promise is +broken: it is not present$/m);
  expect(shown({ promises, state: 'not-now', next: '2026-11-30T08:00:00.000Z' })).toMatch(
    /Promise is +not now; promised again from 2026-11-30 08:00:00Z$/m,
  );
  expect(shown({ promises, state: 'not-now', next: null })).toMatch(/Promise is +nothing is promised$/m);
  expect(shown(null)).not.toContain('Promise');
});

it('shortens ids as far as they stay apart, and never below eight characters', () => {
  const short = shortIds(['01934f6e-0000-7a', '01934f6e-0000-7b', 'f1934f6e-0000-7a']);
  expect([...short.values()].sort()).toEqual(['01934f6e-0000-7a', '01934f6e-0000-7b', 'f1934f6e']);
});
