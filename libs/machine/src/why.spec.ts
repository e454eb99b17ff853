import { describe, expect, it } from '@jest/globals';
import { DUPLICATE, PAUSED } from './readiness.js';
import { why, type KnownThen } from './why.js';

const TODAY = Date.UTC(2026, 10, 29);
/** A time of the day that is asked about. */
const at = (time: string): number => Date.parse(`2026-11-29T${time}Z`);

const present: KnownThen = {
  heardUntil: at('14:05:00'),
  deafUntil: null,
  admittedAt: at('09:00:00'),
  deletedAt: null,
  presence: 'present',
  lifecycle: 'running',
  said: 'running',
  stopReason: null,
  lastCheckAt: at('14:04:45'),
  window: 120,
  absentSince: null,
  gaps: [],
  blockers: [],
  pause: null,
  refusedClaims: null,
  olderUse: null,
  promise: null,
};
const stopping: KnownThen = { ...present, lifecycle: 'stopping', said: 'stopping', stopReason: 'update' };
const silent = { presence: 'absent', lastCheckAt: at('14:00:03'), absentSince: at('14:02:03') } as const;
const unknown: KnownThen = { ...present, ...silent, lifecycle: 'unknown' };
const stopped: KnownThen = { ...stopping, ...silent, lifecycle: 'stopped' };
const arriving: KnownThen = {
  ...present,
  presence: 'not-yet-arrived',
  lifecycle: null,
  said: null,
  lastCheckAt: null,
  window: null,
};
const deleted: KnownThen = { ...unknown, lifecycle: 'deleted', deletedAt: at('14:03:00') };

const PRESENT = 'present: it checked in at 14:04:45Z, and said that it runs';
const STOPPING =
  'present, and about to stop (update): it said so at 14:04:45Z, and counts as stopped if nothing more is heard of it by ';
const UNKNOWN =
  'absent since 14:02:03Z (window 120 s after the last check at 14:00:03Z); it had said running, so the cause is unknown';
const STOPPED =
  'absent since 14:02:03Z (window 120 s after the last check at 14:00:03Z); it had said that it would stop (update), so it is stopped on purpose';
const ARRIVING = 'admitted at 09:00:00Z, and has not checked in yet';
const DELETED = 'deleted at 14:03:00Z: its credential never acts again';

const full = { code: 'disk-full', since: at('13:00:00') };
const noted = { code: 'stops-at-logout', since: at('12:00:00') };
const FULL = 'the disk is full (disk-full) since 13:00:00Z';
const NOTED = 'the agent stops when its user logs out (stops-at-logout) since 12:00:00Z';
const copied = { code: DUPLICATE, since: at('13:30:00') };
const COPIED = 'a copy of this installation is checking in as well (duplicate-installation) since 13:30:00Z';
const paused = {
  blockers: [{ code: PAUSED, since: at('11:00:00') }],
  pause: { note: 'a new disk', until: at('18:00:00') },
};
const PAUSE = 'a person has paused it (operator-paused) since 11:00:00Z until 18:00:00Z: "a new disk"';
const gaps = [{ from: at('14:00:30'), until: at('14:01:00') }];
const DEAF = 'the plane was not listening from 14:00:30Z to 14:01:00Z';
const LISTENED = 'the plane was listening throughout';

/** Every row: a state, what keeps it from work, and whether the plane was deaf meanwhile. */
const ROWS: readonly [string, KnownThen, Partial<KnownThen>, string][] = [
  ['not yet arrived', arriving, {}, ARRIVING],
  ['not yet arrived, paused', arriving, paused, `${ARRIVING}; ${PAUSE}`],
  ['not yet arrived, not observed', arriving, { gaps }, `${ARRIVING}; ${DEAF}`],
  ['running', present, {}, `${PRESENT}; nothing keeps it from work`],
  ['running, blocked', present, { blockers: [full] }, `${PRESENT}; it cannot take work: ${FULL}`],
  ['running, noted', present, { blockers: [noted] }, `${PRESENT}; nothing keeps it from work; note: ${NOTED}`],
  ['running, both', present, { blockers: [full, noted] }, `${PRESENT}; it cannot take work: ${FULL}; note: ${NOTED}`],
  ['running, paused', present, paused, `${PRESENT}; it cannot take work: ${PAUSE}`],
  ['running, not observed', present, { gaps }, `${PRESENT}; nothing keeps it from work; ${DEAF}`],
  ['running, copied', present, { blockers: [copied] }, `${PRESENT}; it cannot take work: ${COPIED}`],
  ['unknown, copied', unknown, { blockers: [copied] }, `${UNKNOWN}; ${COPIED}; ${LISTENED}`],
  [
    'running, and an older credential of it is used',
    present,
    { olderUse: { generation: 1, at: at('14:02:00') } },
    `${PRESENT}; nothing keeps it from work; an older credential of it (generation 1) was used at 14:02:00Z, and refused: if whoever holds that is the right installation, delete the machine and enrol it again`,
  ],
  ['stopping', stopping, {}, `${STOPPING}14:06:45Z`],
  ['stopping, blocked', stopping, { blockers: [full] }, `${STOPPING}14:06:45Z; the last that it told: ${FULL}`],
  ['stopping, paused', stopping, paused, `${STOPPING}14:06:45Z; ${PAUSE}`],
  [
    'stopping, not observed',
    stopping,
    { gaps: [{ from: at('14:04:50'), until: at('14:05:10') }] },
    `${STOPPING}14:07:10Z; the plane was not listening from 14:04:50Z to 14:05:10Z`,
  ],
  ['unknown', unknown, {}, `${UNKNOWN}; ${LISTENED}`],
  [
    'unknown, blocked',
    unknown,
    { blockers: [full, noted] },
    `${UNKNOWN}; the last that it told: ${FULL}, ${NOTED}; ${LISTENED}`,
  ],
  ['unknown, paused', unknown, paused, `${UNKNOWN}; ${PAUSE}; ${LISTENED}`],
  ['unknown, not observed later', unknown, { gaps }, `${UNKNOWN}; ${DEAF}`],
  ['stopped', stopped, {}, `${STOPPED}; ${LISTENED}`],
  ['stopped, blocked', stopped, { blockers: [full] }, `${STOPPED}; the last that it told: ${FULL}; ${LISTENED}`],
  ['stopped, paused', stopped, paused, `${STOPPED}; ${PAUSE}; ${LISTENED}`],
  ['stopped, not observed', stopped, { gaps }, `${STOPPED}; ${DEAF}`],
  ['deleted', deleted, {}, DELETED],
  ['deleted, whatever else', deleted, { ...paused, gaps, deafUntil: at('15:00:00') }, DELETED],
];

describe('the sentence', () => {
  it.each(ROWS)('of a machine that is %s says what that rests on (B5)', (_, known, changes, sentence) =>
    expect(why({ ...known, ...changes })).toBe(sentence),
  );

  it('counts a silence from when the plane listened again, where it did so after the last check (B1, B5)', () => {
    const later = { absentSince: at('14:03:00'), gaps };
    expect(why({ ...unknown, ...later })).toBe(
      `absent since 14:03:00Z (window 120 s after the plane listened again at 14:01:00Z, the last check was at 14:00:03Z); it had said running, so the cause is unknown; ${DEAF}`,
    );
    // Over the line, and not recorded yet: the same sentence as a moment later.
    expect(why({ ...unknown, ...later, absentSince: null })).toBe(why({ ...unknown, ...later }));
    expect(why({ ...unknown, absentSince: null })).toBe(why(unknown));
  });

  it('says where the plane did not hear at the time that is asked about (B1)', () => {
    const asked = { heardUntil: at('14:05:00'), deafUntil: at('14:30:00') };
    const deaf = 'from 14:05:00Z on, until 14:30:00Z at least';
    expect(why({ ...present, ...asked })).toContain(`; the plane was not listening ${deaf}`);
    expect(why({ ...unknown, ...asked, gaps })).toContain(`; ${DEAF}, and ${deaf}`);
  });

  it('tells the last three gaps one by one, and how many there were before', () => {
    const many = [0, 1, 2, 3, 4].map((n) => ({ from: at(`14:0${n}:10`), until: at(`14:0${n}:40`) }));
    expect(why({ ...unknown, gaps: many })).toContain(
      'the plane was not listening 2 times before, and from 14:02:10Z to 14:02:40Z, and from 14:03:10Z to 14:03:40Z, and from 14:04:10Z to 14:04:40Z',
    );
  });

  it('tells of refused claims as one, with the last, by what that called itself (C03, B5)', () => {
    const refused = { count: 1, last: at('14:01:00'), hostname: 'forge' };
    expect(why({ ...present, refusedClaims: refused })).toBe(
      `${PRESENT}; nothing keeps it from work; a claim of another installation to be this one was refused at 14:01:00Z, by one that calls itself "forge"`,
    );
    expect(why({ ...present, refusedClaims: { ...refused, count: 4, hostname: null } })).toContain(
      'claims of others to be this installation were refused 4 times, last at 14:01:00Z',
    );
    expect(why({ ...deleted, refusedClaims: refused })).toBe(DELETED);
  });

  it('names a promise where it is broken, and where an absence is none of an alarm (N11)', () => {
    const schedules = ['daily 09:00-18:00 Europe/Berlin', 'always'];
    const promised = (known: KnownThen, state: 'held' | 'broken' | 'not-now') =>
      why({ ...known, promise: { state, schedules } });
    const broken = 'its presence is promised at this time (daily 09:00-18:00 Europe/Berlin, always)';
    expect(promised(unknown, 'broken')).toBe(`${UNKNOWN}; ${broken}; ${LISTENED}`);
    expect(promised(arriving, 'broken')).toBe(`${ARRIVING}; ${broken}`);
    expect(promised(unknown, 'not-now')).toBe(`${UNKNOWN}; its presence is not promised at this time; ${LISTENED}`);
    for (const state of ['held', 'not-now'] as const) expect(promised(present, state)).toBe(why(present));
  });

  it('has the day with each time that is not of the day of the answer', () => {
    const sentence = why({ ...unknown, heardUntil: TODAY + 86_400_000 });
    expect(sentence).toContain('absent since 2026-11-29 14:02:03Z');
    expect(why({ ...arriving, admittedAt: TODAY - 1_000 })).toContain('admitted at 2026-11-28 23:59:59Z');
  });

  it('has no reason where none was given, no note without a pause, and no expiry where a person has to end it', () => {
    expect(why({ ...stopping, stopReason: null })).toContain('about to stop: it said');
    expect(why({ ...present, ...paused, pause: { note: 'n', until: null } })).toContain('since 11:00:00Z: "n"');
    expect(why({ ...present, ...paused, pause: null })).toMatch(/\(operator-paused\) since 11:00:00Z$/);
  });
});
