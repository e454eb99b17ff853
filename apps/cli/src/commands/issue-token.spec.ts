import { expect, it } from '@jest/globals';
import { hashOf, decodeEnrolmentToken } from '@rollcall/wire';
import { EXIT } from '../failure.js';
import { against } from '../testing/against.js';
import { machineView } from '../testing/machine.js';
import { issueToken } from './issue-token.js';

const NODE = machineView({ name: 'forge' });
/** What both routes answer, in one body: the plane of these tests has only one. */
const ANSWER = {
  asOf: '2026-11-29T14:02:12.000Z',
  machine: NODE,
  token: { id: '01934f6e-0000-7000-8000-00000000000a', expiresAt: '2026-11-29T14:17:00.000Z', name: null },
  replaces: NODE.id,
  machineApi: 'https://plane:8443',
  pins: [],
};

it('makes the secret here, registers its hash alone, and prints the token alone on standard output (N20)', async () => {
  const { out, asked, failure } = await against({ ...ANSWER, replaces: null }, (context) =>
    issueToken({ expires: 900 }, context),
  );
  expect(failure).toBeNull();
  const { secret } = decodeEnrolmentToken(out.trim());
  expect(asked.map(({ method, body }) => [method, body])).toEqual([
    ['POST', { commandId: expect.any(String), tokenHash: hashOf(secret), name: null, node: null, expiresIn: 900 }],
  ]);
});

it('deletes the machine of a node only on a person’s word: without a terminal it wants --yes (N19)', async () => {
  const refused = await against(ANSWER, (context) => issueToken({ node: 'forge', expires: 900 }, context));
  expect(refused.failure).toMatchObject({ exitCode: EXIT.usage });
  expect(refused.asked.map(({ method }) => method)).toEqual(['GET']);
  const agreed = await against(ANSWER, (context) => issueToken({ node: 'forge', expires: 900, yes: true }, context));
  expect(agreed.asked.at(-1)?.body).toMatchObject({ node: NODE.id });
  expect(agreed.err).toContain(`Machine ${NODE.id} is deleted`);
});

it('asks nothing where the machine of the node is deleted already (N19)', async () => {
  const machine = { ...NODE, lifecycle: 'deleted', deletedAt: ANSWER.asOf };
  const { failure, asked } = await against({ ...ANSWER, machine }, (context) =>
    issueToken({ node: 'forge', expires: 900 }, context),
  );
  expect([failure, asked.at(-1)?.method]).toEqual([null, 'POST']);
});
