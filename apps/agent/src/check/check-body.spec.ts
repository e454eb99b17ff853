import { expect, it } from '@jest/globals';
import { BODY_LIMIT_BYTES } from '@rollcall/wire';
import { checkBody } from './check-body.js';

const bodyWith = (hostname: string) =>
  checkBody({
    boot: { counter: 1, id: '00000001' },
    sequence: 1,
    checkId: 'check-1',
    chain: null,
    stopping: null,
    display: {
      believes: { generation: 1 },
      blockers: null,
      name: null,
      report: { hostname, agentVersion: '1', platform: 'linux', arch: 'x64' },
    },
  });
const bytes = (body: unknown) => Buffer.byteLength(JSON.stringify(body));

it('leaves display out that would not fit through the plane’s door, by its bytes, and is a check all the same (C11)', () => {
  const room = BODY_LIMIT_BYTES - bytes(bodyWith(''));
  expect(bytes(bodyWith('x'.repeat(room)))).toBe(BODY_LIMIT_BYTES);
  const bare = bodyWith('ä'.repeat(room / 2 + 1));
  expect(bare).not.toHaveProperty('report');
  expect(bare).toMatchObject({ sequence: 1, checkId: 'check-1', said: 'running' });
});
