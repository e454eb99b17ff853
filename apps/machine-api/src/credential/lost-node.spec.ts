import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { code, userCodeKey } from '@rollcall/admission';
import { kindsFor } from '@rollcall/authorisation';
import { InMemoryEventStore } from '@rollcall/event-store/testing';
import { hashOf, makeSecret, type CodeAnswer, type EnrolmentAnswer, type Problem } from '@rollcall/wire';
import { randomUUID } from 'node:crypto';
import { routes } from '../openapi.js';
import {
  check,
  checkBody,
  deleteMachine,
  enrol,
  instanceOn,
  issueToken,
  joinPreadmitted,
  newInstallation,
  OWNER,
  post,
  preadmit,
  requestLogTail,
  requestRotation,
  startRotation,
  type Installation,
  type Told,
} from '../testing/plane.js';

const store = new InMemoryEventStore();
let app: NestFastifyApplication;
beforeAll(async () => {
  app = await instanceOn(store);
});
afterAll(async () => {
  await app.close();
  await store.close();
});

const forMachines = (await routes()).filter(({ action }) => action !== null && kindsFor(action).includes('machine'));

/** Calls everything that a machine may call, with a word in the place of its credential; resolves to the refusals, by action. */
const callEverything = async (bearer: string, { stamp, installation }: LostNode) => {
  const { identifier } = installation;
  const check = checkBody({ boot: { counter: 9, id: '0000000b' }, checkId: randomUUID() });
  const body = { ...check, identifier, profile: {}, credentialHash: hashOf(makeSecret('rcm')) };
  const told = await Promise.all(
    forMachines.map(async ({ method, path, action }) => {
      const isUpload = method === 'PUT';
      const answer = await app.inject({
        method: method as 'POST' | 'PUT',
        url: path.replace(/:\w+/, encodeURIComponent(stamp)),
        headers: {
          authorization: `Bearer ${bearer}`,
          'content-type': isUpload ? 'application/octet-stream' : 'application/json',
        },
        payload: isUpload ? 'a line\n' : JSON.stringify(body),
      });
      return [action, answer.statusCode < 300 ? 'granted' : answer.json<Problem>().code];
    }),
  );
  return Object.fromEntries(told) as Record<string, string>;
};

const factsBut = async (streams: RegExp) =>
  (await store.readBatches(0n, 10_000)).flatMap(({ facts }) => facts).filter(({ stream }) => !streams.test(stream));

type Way = 'token' | 'code' | 'credential that a person registered';

/** Joins; resolves to what it joined with. */
const join: Record<
  Way,
  (installation: Installation) => Promise<{ joinedWith: string; answer: Told<EnrolmentAnswer> }>
> = {
  token: async (installation) => {
    const joinedWith = await issueToken(store);
    return { joinedWith, answer: await enrol(app, joinedWith, installation) };
  },
  code: async ({ identifier, credential }) => {
    const request = { identifier, credentialHash: hashOf(credential), profile: {} };
    const { userCode, deviceCode } = (await post<CodeAnswer>(app, '/v1/codes', request)).body;
    const approve = { type: 'ApproveCode', owner: OWNER, name: null } as const;
    const actor = { kind: 'person', id: OWNER } as const;
    await store.decide(code, { claim: userCodeKey(hashOf(userCode)) }, approve, { actor });
    return { joinedWith: deviceCode, answer: await redeem(deviceCode) };
  },
  'credential that a person registered': async (installation) => {
    await preadmit(store, installation);
    return { joinedWith: installation.credential, answer: await joinPreadmitted(app, installation) };
  },
};
const redeem = (deviceCode: string) => post<EnrolmentAnswer & Problem>(app, '/v1/codes/redeem', { deviceCode });

/** What is on a node: three generations, of which one is pending, and all that it was told on the way. */
type LostNode = Awaited<ReturnType<typeof lostNode>>;
const lostNode = async (way: Way) => {
  const installation = newInstallation();
  const { identifier, credential: first } = installation;
  const { joinedWith, answer } = await join[way](installation);
  expect(answer.status).toBe(201);
  const { id } = answer.body.machine;
  const [second, pending] = [makeSecret('rcm'), makeSecret('rcm')];
  await check(app, first);
  await startRotation(app, first, second);
  const stamp = await requestLogTail(store, id);
  const wanted = await requestRotation(store, id);
  const { chain } = (await check(app, second, checkBody({ sequence: 2, checkId: randomUUID() }))).body;
  await startRotation(app, second, pending);
  return {
    installation,
    joinedWith,
    id,
    stamp,
    credentials: [first, second, pending],
    words: [
      ...(joinedWith === first ? [] : [joinedWith]),
      identifier,
      id,
      chain,
      stamp,
      wanted,
      ...[first, second, pending].map(hashOf),
    ],
  };
};

it('grants a machine checks, rotations, uploads and the redemption of what a person registered for it, each on its own credential, and nothing else (N14)', () => {
  expect(new Set(forMachines.map(({ action }) => action))).toEqual(
    new Set(['accept-check', 'start-rotation', 'receive-log-tail', 'redeem-preadmission']),
  );
});

const REVOKED = {
  'accept-check': 'credential-revoked',
  'start-rotation': 'credential-revoked',
  'receive-log-tail': 'credential-revoked',
  'redeem-preadmission': 'token-refused',
};
const UNKNOWN = Object.fromEntries(forMachines.map(({ action }) => [action, 'credential-unknown']));

it.each<Way>(['token', 'code', 'credential that a person registered'])(
  'holds nothing that outlives its revocation: once a node is deleted that joined by a %s, nothing that was on it does anything (N14, O31)',
  async (way) => {
    const node = await lostNode(way);
    for (const word of node.words) expect(await callEverything(word, node)).toEqual(UNKNOWN);
    await deleteMachine(store, node.id);

    const before = await factsBut(/^refusals-/);
    for (const credential of node.credentials) expect(await callEverything(credential, node)).toEqual(REVOKED);
    for (const word of node.words) expect(await callEverything(word, node)).toEqual(UNKNOWN);
    expect((await enrol(app, node.joinedWith, node.installation)).body.code).toBe('token-refused');
    expect((await redeem(node.joinedWith)).body.code).toBe('code-refused');
    // Nothing came of it but a note of the refused uses.
    expect(await factsBut(/^refusals-/)).toEqual(before);
  },
);
