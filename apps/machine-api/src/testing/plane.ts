import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { token, tokenStream } from '@rollcall/admission';
import type { EventStore } from '@rollcall/event-store';
import { SystemClock, type Clock } from '@rollcall/lifetimes';
import type { LogTails } from '@rollcall/log-tails';
import { InMemoryLogTails } from '@rollcall/log-tails/testing';
import { machine, machineStream, type CheckPolicy, type RotationPolicy } from '@rollcall/machine';
import type { Logger } from '@rollcall/nest-platform';
import { injectableApp } from '@rollcall/nest-platform/testing';
import { NO_METRICS, type Meter } from '@rollcall/telemetry';
import { person, personStream } from '@rollcall/person';
import {
  hashOf,
  makeSecret,
  type CheckAnswer,
  type EnrolmentAnswer,
  type LogTailReceipt,
  type Problem,
  type RotationAnswer,
} from '@rollcall/wire';
import { randomUUID } from 'node:crypto';
import { ChainTokens } from '../chain/chain-tokens.js';
import { MachineApiModule } from '../machine-api.module.js';
import { CheckCounts } from '../machine/check-counts.js';
import { MachineTerms } from '../machine/machine-terms.js';
import { RecordEpoch } from '../record/record-epoch.js';

const CHAIN_KEY = Buffer.alloc(32, 7);

/** A person of the tests. */
export const OWNER = 'person-1';

/** An answer as a test looks at it. */
export type Told<Body = unknown> = { status: number; headers: Record<string, unknown>; body: Body; text: string };

/** Waits for nothing: what has a least duration has none in tests that are not about it. */
class HurriedClock extends SystemClock {
  override sleep(): Promise<void> {
    return Promise.resolve();
  }
}

/** An installation as the plane sees it: what it made for itself. */
export type Installation = { readonly identifier: string; readonly credential: string };
export const newInstallation = (): Installation => ({ identifier: randomUUID(), credential: makeSecret('rcm') });

/** Builds an instance of the machine API on a store; several on one store are a plane. */
export const instanceOn = async (
  store: EventStore,
  {
    logger,
    policy = { interval: 30, windowFloor: 120 },
    pins = [] as readonly string[],
    tails = new InMemoryLogTails(),
    meter = NO_METRICS.meter,
    rotation = { afterDays: null, since: 0 },
    clock = new HurriedClock(),
    verificationAddress = null,
  }: {
    logger?: Logger;
    policy?: CheckPolicy;
    rotation?: RotationPolicy;
    clock?: Clock;
    verificationAddress?: string | null;
    pins?: readonly string[];
    tails?: LogTails;
    meter?: Meter;
  } = {},
): Promise<NestFastifyApplication> => {
  const counts = new CheckCounts(meter);
  return injectableApp(
    MachineApiModule.over({
      store,
      tails,
      epoch: await RecordEpoch.of(store),
      tokens: new ChainTokens(CHAIN_KEY),
      terms: new MachineTerms(policy, pins, rotation, verificationAddress),
      clock,
      readiness: [],
      counts,
    }),
    { answered: (request) => counts.answered(request), ...(logger ? { logger } : {}) },
  );
};

/** Has a person issue an enrolment token; returns its secret. */
export const issueToken = async (
  store: EventStore,
  { name = null, expiresIn = 900, node }: { name?: string | null; expiresIn?: number; node?: string } = {},
): Promise<string> => {
  const secret = makeSecret('rce');
  await store.decide(
    token,
    { stream: tokenStream(randomUUID()) },
    {
      type: 'IssueToken',
      tokenHash: hashOf(secret),
      owner: OWNER,
      name,
      expiresIn,
      ...(node === undefined ? {} : { node }),
    },
    { actor: { kind: 'person', id: OWNER } },
  );
  return secret;
};

/** Has a person register the credential of an installation to come. */
export const preadmit = (
  store: EventStore,
  { credential }: Installation,
  { name = null, node }: { name?: string | null; node?: string } = {},
) =>
  store.decide(
    token,
    { stream: tokenStream(randomUUID()) },
    {
      type: 'IssueToken',
      tokenHash: hashOf(credential),
      owner: OWNER,
      name,
      expiresIn: 900,
      preadmits: true,
      ...(node === undefined ? {} : { node }),
    },
    { actor: { kind: 'person', id: OWNER } },
  );

/** Joins with a credential that a person has registered. */
export const joinPreadmitted = (app: NestFastifyApplication, { identifier, credential }: Installation) =>
  post<EnrolmentAnswer & Problem>(
    app,
    '/v1/preadmissions/redeem',
    { identifier, profile: {} },
    { authorization: `Bearer ${credential}` },
  );

/** Has a person delete a machine. */
export const deleteMachine = (store: EventStore, id: string) =>
  store.decide(
    machine,
    { stream: machineStream(id) },
    { type: 'DeleteMachine' },
    { actor: { kind: 'person', id: OWNER } },
  );

/** Has the first person remove the one who issues and approves here. */
export const removeOwner = async (store: EventStore): Promise<void> => {
  for (const command of [{ type: 'RegisterPerson', name: 'Ada' }, { type: 'EndAccess' }] as const)
    await store.decide(person, { stream: personStream(OWNER) }, command, { actor: { kind: 'person', id: 'first' } });
};

/** Has a person ask a machine for the tail of its log; returns the stamp. */
export const requestLogTail = async (store: EventStore, id: string): Promise<string> => {
  const { state } = await store.decide(
    machine,
    { stream: machineStream(id) },
    { type: 'RequestLogTail' },
    { actor: { kind: 'person', id: OWNER } },
  );
  return state.requests?.logTail ?? '';
};

/** Registers the next credential of a machine. */
export const rotate = (store: EventStore, id: string, from: string, to: string) =>
  store.decide(
    machine,
    { stream: machineStream(id) },
    { type: 'StartRotation', keyHash: hashOf(from), nextKeyHash: hashOf(to) },
    { actor: { kind: 'machine', id } },
  );

/** Posts JSON, or bytes as they are. */
export const post = async <Body = unknown>(
  app: NestFastifyApplication,
  url: string,
  payload: object | string | Buffer,
  headers: Record<string, string> = {},
): Promise<Told<Body>> => {
  const raw = typeof payload === 'string' || Buffer.isBuffer(payload);
  const answer = await app.inject({
    method: 'POST',
    url,
    payload: raw ? payload : JSON.stringify(payload),
    headers: { 'content-type': 'application/json', ...headers },
    remoteAddress: '203.0.113.77',
  });
  return { status: answer.statusCode, headers: answer.headers, body: answer.json<Body>(), text: answer.body };
};

/** Enrols an installation. */
export const enrol = (
  app: NestFastifyApplication,
  token: string,
  { identifier, credential }: Installation,
  profile: object = {},
) =>
  post<EnrolmentAnswer & Problem>(app, '/v1/enrolments', {
    token,
    identifier,
    credentialHash: hashOf(credential),
    profile,
  });

/** Uploads bytes under a stamp. */
export const upload = async (
  app: NestFastifyApplication,
  credential: string,
  stamp: string,
  bytes: Buffer | string = 'a line\n',
  headers: Record<string, string> = {},
): Promise<Told<LogTailReceipt & Problem>> => {
  const answer = await app.inject({
    method: 'PUT',
    url: `/v1/log-tails/${encodeURIComponent(stamp)}`,
    payload: bytes,
    headers: { 'content-type': 'application/octet-stream', authorization: `Bearer ${credential}`, ...headers },
  });
  return { status: answer.statusCode, headers: answer.headers, body: answer.json(), text: answer.body };
};

/** The body of a check: the first of boot 1, unless told otherwise. */
export const checkBody = (over: object = {}): object => ({
  boot: { counter: 1, id: '0000000a' },
  sequence: 1,
  checkId: randomUUID(),
  chain: null,
  said: 'running',
  ...over,
});

/** Sends a check with a credential. */
export const check = (
  app: NestFastifyApplication,
  credential: string,
  body: object | string | Buffer = checkBody(),
  headers = {},
) => post<CheckAnswer & Problem>(app, '/v1/check', body, { authorization: `Bearer ${credential}`, ...headers });

/** Registers the hash of the next credential as a machine does. */
export const startRotation = (app: NestFastifyApplication, credential: string, next: string) =>
  post<RotationAnswer & Problem>(
    app,
    '/v1/credential/rotations',
    { credentialHash: hashOf(next) },
    { authorization: `Bearer ${credential}` },
  );

/** Has a person ask a machine for a newer credential; returns the stamp. */
export const requestRotation = async (store: EventStore, id: string): Promise<string> => {
  const { state } = await store.decide(
    machine,
    { stream: machineStream(id) },
    { type: 'RequestRotation' },
    { actor: { kind: 'person', id: OWNER } },
  );
  return state.requests?.rotation?.stamp ?? '';
};
