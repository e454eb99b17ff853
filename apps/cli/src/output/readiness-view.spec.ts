import { describe, expect, it } from '@jest/globals';
import type { BlockerSummary, EpisodeView } from '@rollcall/wire';
import { captured } from '../testing/captured.js';
import { Output } from './output.js';
import { showBlockers, showEpisodes } from './readiness-view.js';

const age = { asOf: '2026-11-29T14:12:00.000Z', behind: false };

const print = (draw: (output: Output) => void, options: { terminal?: boolean; env?: Record<string, string> } = {}) => {
  const surroundings = captured({ terminal: options.terminal ?? false });
  draw(new Output(surroundings.stdout, surroundings.stderr, options.env ?? {}, false));
  return surroundings.printed;
};

const full: BlockerSummary = {
  code: 'disk-full',
  known: true,
  sentence: 'the disk is full',
  fix: 'whoever looks after the machine: free space',
  dependsOn: 'the free space',
  blocksWork: true,
  visibleWithin: 90,
  machines: 2,
  since: '2026-11-29T14:00:00.000Z',
  seconds: 1_020,
};
const nowhere: BlockerSummary = {
  ...full,
  code: 'update-pending',
  blocksWork: false,
  machines: 0,
  since: null,
  seconds: 0,
};

describe('the blockers', () => {
  const shown = (blockers: BlockerSummary[], all = false, options = {}) =>
    print((output) => showBlockers(output, { ...age, blockers }, all), options).out;

  it('tell on how many machines, since when and for how long in all, how soon it shows, what it means and who can fix it (O21)', () => {
    const table = shown([full]);
    expect(table).toMatch(/CODE +MACHINES +SINCE +IN ALL +WORK +SHOWS WITHIN +MEANING +TO BE FIXED BY/);
    expect(table).toMatch(
      /disk-full +2 +12 min ago +17 min +blocked +90 s +the disk is full +whoever looks after the machine: free space/,
    );
    expect(table).not.toContain('RESTS ON');
  });

  it('tell with the whole catalogue what each rests on (O21)', () => {
    const table = shown([full, nowhere], true);
    expect(table).toMatch(/RESTS ON$/m);
    expect(table).toMatch(/update-pending +0 +goes on +90 s .*the free space$/m);
  });

  it('are none in words, and never a table without rows', () =>
    expect(shown([])).toBe('Nothing keeps a machine of yours from taking work.\n'));

  it('have colours on a terminal, and none with NO_COLOR (U6)', () => {
    expect(shown([full], false, { terminal: true })).toContain('\u001b[31mdisk-full');
    expect(shown([{ ...full, blocksWork: false }], false, { terminal: true })).toContain('\u001b[33mdisk-full');
    expect(shown([full], false, { terminal: true, env: { NO_COLOR: '1' } })).not.toContain('\u001b');
  });
});

describe('the episodes of a machine', () => {
  const stands: EpisodeView = {
    code: 'disk-full',
    since: '2026-11-29T14:00:00.000Z',
    sentence: 'the disk is full',
    fix: 'somebody',
    blocksWork: true,
    until: null,
    seconds: 720,
  };
  const shown = (episodes: EpisodeView[], next: string | null = null) =>
    print((output) => showEpisodes(output, { ...age, machine: { id: 'm1' }, episodes, next }));

  it('tell since when, until when and for how long each stood (O32)', () => {
    const ended = { ...stands, until: '2026-11-29T14:01:30.000Z', seconds: 90 };
    const { out, err } = shown([stands, ended]);
    expect(out).toMatch(/disk-full +2026-11-29 14:00:00Z +it stands +12 min +blocked +the disk is full/);
    expect(out).toMatch(/disk-full +2026-11-29 14:00:00Z +2026-11-29 14:01:30Z +1 min +blocked/);
    expect(err).toBe('');
  });

  it('say when there are more of them', () =>
    expect(shown([stands], '7.disk-full').err).toBe('Older ones are not shown; --limit shows more.\n'));

  it('are none in words', () => expect(shown([]).out).toBe('Nothing has kept this machine from taking work so far.\n'));
});
