import { expect, it } from '@jest/globals';
import { EXIT } from '../failure.js';
import { against } from '../testing/against.js';
import { machineView } from '../testing/machine.js';
import { approveCode, refuseCode, showCode } from './codes.js';

const WAITING = {
  code: 'WDJB-MJHT',
  answer: 'approved',
  replaces: null,
  expiresAt: '2026-11-29T14:10:00.000Z',
  claims: { hostname: 'forge\u001b[2Jadmin', agentVersion: null, platform: 'linux', arch: 'x64' },
};

it('marks what a machine says of itself as its own claim, quoted and escaped (O12, C08)', async () => {
  const { out, asked } = await against(WAITING, (context) => showCode('wdjbmjht', context));
  expect(out).toContain('It says of itself, which proves nothing:');
  expect(out).toContain('hostname: "forge\\u001b[2Jadmin"');
  expect(out).not.toContain('\u001b');
  // In no address, which others log.
  expect(asked.map(({ path, body }) => [path, body])).toEqual([['/v1/codes/look-up', { code: 'wdjbmjht' }]]);
});

it('looks a code up before anybody confirms anything, and lets nobody in without a terminal or --yes (C08)', async () => {
  const refused = await against(WAITING, (context) => approveCode('WDJB-MJHT', {}, context));
  expect([refused.failure, refused.asked]).toEqual([expect.objectContaining({ exitCode: EXIT.usage }), []]);
  const { asked, out } = await against(WAITING, (context) =>
    approveCode('WDJB-MJHT', { name: 'forge', yes: true }, context),
  );
  expect(asked.map(({ path }) => path)).toEqual(['/v1/codes/look-up', '/v1/codes/approve']);
  expect(asked.at(-1)?.body).toMatchObject({ code: 'WDJB-MJHT', name: 'forge' });
  expect(out).toContain('WDJB-MJHT is approved');
});

it('deletes the machine of a node only with a person’s agreement, and names it by its id (N19)', async () => {
  const machine = machineView({ name: 'forge' });
  const answer = { ...WAITING, machine, asOf: WAITING.expiresAt, replaces: machine.id };
  const { asked, err } = await against(answer, (context) =>
    approveCode('WDJB-MJHT', { node: 'forge', yes: true }, context),
  );
  expect(asked.at(-1)?.body).toMatchObject({ code: 'WDJB-MJHT', node: machine.id });
  expect(err).toContain(`Machine ${machine.id} is deleted`);
});

it('refuses a code by its letters (O12)', async () => {
  const { asked, out } = await against(WAITING, (context) => refuseCode('WDJB-MJHT', context));
  expect(asked[0]).toMatchObject({ method: 'POST', path: '/v1/codes/refuse' });
  expect(out).toContain('is refused');
});
