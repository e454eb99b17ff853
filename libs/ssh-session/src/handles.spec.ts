import { describe, expect, it } from '@jest/globals';
import { Handles } from './handles.js';
import { FakeLink, ManualSessionClock, type Closing } from './testing/index.js';

const open = async ({ forward, link }: { forward: Closing; link: Closing }) => {
  const clock = new ManualSessionClock();
  const fake = new FakeLink();
  fake.forwardClosing = forward;
  fake.closing = link;
  const handles = new Handles(clock, fake, await fake.forward({ kind: 'tcp' }));
  fake.journal.length = 0;
  return { clock, fake, handles };
};

const FAILURES: Record<Closing, { forward: string; link: string } | null> = {
  ends: null,
  rejects: { forward: 'The forward cannot be closed', link: 'The link cannot be closed' },
  throws: { forward: 'The forward cannot be closed', link: 'The link cannot be closed' },
  hangs: { forward: 'It has not ended within 1000 ms', link: 'It has not ended within 1000 ms' },
};
const CLOSINGS = Object.keys(FAILURES) as Closing[];

describe('handles', () => {
  it.each(CLOSINGS.flatMap((forward) => CLOSINGS.map((link) => ({ forward, link }))))(
    'are closed forward first and link second when the forward $forward and the link $link (T-1.5)',
    async (closings) => {
      const { clock, fake, handles } = await open(closings);
      const closed = handles.closeOnce();
      expect(fake.journal).toEqual(['close forward']);
      await clock.advance(2_000);
      const report = await closed;
      expect(report.forward?.message).toBe(FAILURES[closings.forward]?.forward);
      expect(report.link?.message).toBe(FAILURES[closings.link]?.link);
      expect([fake.journal, clock.pending]).toEqual([['close forward', 'close link'], 0]);
    },
  );

  it('are closed once, however often and from wherever it is asked for (T-2.5, T-2.7)', async () => {
    const { clock, fake, handles } = await open({ forward: 'ends', link: 'rejects' });
    const closes: Promise<unknown>[] = [];
    fake.called = () => closes.push(handles.closeOnce());
    closes.push(handles.closeOnce(), handles.closeOnce());
    await clock.rest();
    closes.push(handles.closeOnce());
    expect(new Set(await Promise.all(closes)).size).toBe(1);
    expect([closes.length, fake.journal]).toEqual([5, ['close forward', 'close link']]);
  });

  it('may be none (T-2.3)', async () => expect(await new Handles(new ManualSessionClock()).closeOnce()).toEqual({}));

  it('hold nobody who waits in a link that could not be closed (T-2.4)', async () => {
    const { clock, handles } = await open({ forward: 'ends', link: 'hangs' });
    const waiting = handles.released(new Promise(() => undefined)).catch(() => 'released');
    void handles.closeOnce();
    await clock.advance(1_000);
    expect(await waiting).toBe('released');
  });
});
