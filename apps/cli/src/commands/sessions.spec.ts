import { expect, it } from '@jest/globals';
import { against } from '../testing/against.js';
import { endSession, listSessions } from './sessions.js';

const session = (id: string, over: object = {}) => ({
  id,
  current: false,
  by: 'link',
  device: null,
  expiresAt: '2026-01-01T12:00:00.000Z',
  ...over,
});
const body = {
  sessions: [session('aaaa-1', { current: true }), session('bbbb-1', { by: 'code', device: 'the desk' })],
};

it('shows where somebody is signed in as the caller, in the words of the program where it was one', async () => {
  const { out } = await against(body, listSessions);
  expect(out).toMatch(/aaaa-1 +a link .*this one/);
  expect(out).toMatch(/bbbb-1 +a code +"the desk" +2026-01-01 12:00:00Z/);
});

it('ends a session by the beginning of its id, if that is clear', async () => {
  const { asked } = await against(body, (context) => endSession('bbbb', context));
  expect(asked.at(-1)).toMatchObject({ method: 'DELETE', path: '/v1/sessions/bbbb-1' });
  expect((await against(body, (context) => endSession('cccc', context))).failure).toMatchObject({ exitCode: 4 });
  const twins = { sessions: [session('bbbb-1'), session('bbbb-2')] };
  expect((await against(twins, (context) => endSession('bbbb', context))).failure).toMatchObject({ exitCode: 1 });
});
