import { expect, it } from '@jest/globals';
import { EXIT } from '../failure.js';
import { against } from '../testing/against.js';
import { listTokens, withdrawToken } from './open-tokens.js';

const [FIRST, SECOND] = ['0193aaaa-0000-4000-8000-000000000001', '0193bbbb-0000-4000-8000-000000000002'];
const times = { issuedAt: '2026-11-29T14:02:00.000Z', expiresAt: '2026-11-29T14:17:00.000Z' };
const OPEN = {
  tokens: [
    { id: FIRST, kind: 'token', name: null, node: { machine: 'm1', name: 'forge' }, ...times },
    { id: SECOND, kind: 'preadmission', name: 'lathe', node: null, ...times },
  ],
};

it('lists what can still admit a machine, for which node and until when (N20)', async () => {
  const { out } = await against(OPEN, listTokens);
  expect(out).toMatch(new RegExp(`${FIRST} +token +the node of forge +2026-11-29 14:02:00Z +2026-11-29 14:17:00Z`));
  expect(out).toMatch(new RegExp(`${SECOND} +preadmission +a new node "lathe"`));
  expect((await against({ tokens: [] }, listTokens)).out).toContain('Nothing that you have made');
});

it('withdraws one by its id or the beginning of it, and none where that is not clear (N20)', async () => {
  const { asked, out } = await against(OPEN, (context) => withdrawToken('0193b', context));
  expect(asked.at(-1)).toMatchObject({ method: 'DELETE', path: `/v1/enrolment-tokens/${SECOND}` });
  expect(out).toContain('Nobody is admitted');
  const ofWhole = await against(OPEN, (context) => withdrawToken(FIRST, context));
  expect(ofWhole.asked.map(({ method }) => method)).toEqual(['DELETE']);
  const failed = async (wanted: string) => (await against(OPEN, (context) => withdrawToken(wanted, context))).failure;
  expect([await failed('0193'), await failed('ffff')]).toMatchObject([
    { exitCode: EXIT.failed },
    { exitCode: EXIT.notFound },
  ]);
});
