import { expect, it } from '@jest/globals';
import type { Batch } from '@rollcall/event-store';
import { InMemoryEventStore, tally } from '@rollcall/event-store/testing';
import { NO_TRACES, type AnsweredRequest, type Traces } from './index.js';
import { recordingTraces } from './testing/index.js';
import { isRecent } from './traces.js';

const NOW = Date.UTC(2026, 0, 1, 12);
const ANSWER: AnsweredRequest = { method: 'POST', route: '/v1/check', status: 200, code: null, seconds: 0.004 };
const actor = { kind: 'plane', id: 'test' } as const;

/** A request that decides something, and the batch that recorded it. */
const followed = async (traces: Traces): Promise<Batch> => {
  const store = new InMemoryEventStore({ now: () => NOW, ...traces.appends });
  const request = traces.begin();
  const decided = Promise.withResolvers<void>();
  request.run(() => {
    const command = { type: 'Add', amount: 1 } as const;
    void store.decide(tally, { stream: 'tally-a' }, command, { actor }).then(() => decided.resolve());
  });
  await decided.promise;
  request.end(ANSWER);
  const [batch] = (await store.readBatches(0n, 1)) as [Batch];
  await store.close();
  return batch;
};

it('makes one trace of a request, its append, and what is done with the batch in other processes', async () => {
  const [machineApi, projector] = [recordingTraces({ now: () => NOW }), recordingTraces({ now: () => NOW })];
  const batch = await followed(machineApi.traces);
  projector.traces.publishing([batch])(true);
  projector.traces.projecting('presence')([batch])(true);
  const [append, request] = machineApi.spans();
  const recorded = { 'rollcall.batch': 1, 'rollcall.facts': 1 };
  expect(append).toMatchObject({ name: 'append', parent: request?.id, attributes: recorded, failed: false });
  expect(request).toMatchObject({ name: 'POST /v1/check', kind: 'SERVER', parent: null, failed: false });
  const after = { parent: append?.id, attributes: recorded, failed: false };
  expect(projector.spans()).toMatchObject([
    { name: 'publish', kind: 'PRODUCER', ...after },
    { name: 'project presence', kind: 'CONSUMER', ...after },
  ]);
  expect(new Set([...machineApi.spans(), ...projector.spans()].map(({ traceId }) => traceId))).toEqual(
    new Set([request?.traceId]),
  );
});

it('does nothing for what is not followed: decisions outside a request, and batches without a trace', async () => {
  const { traces, spans } = recordingTraces({ now: () => NOW });
  const store = new InMemoryEventStore({ now: () => NOW, ...traces.appends });
  await store.decide(tally, { stream: 'tally-a' }, { type: 'Add', amount: 1 }, { actor });
  const batches = await store.readBatches(0n, 1);
  traces.publishing(batches)(true);
  const [batch] = batches as [Batch];
  traces.projecting('presence')([{ ...batch, trace: 'no traceparent' }])(true);
  await store.decide(tally, { stream: 'tally-a' }, { type: 'Add', amount: 1 }, { actor, trace: 'no traceparent' });
  expect(spans()).toEqual([]);
  await store.close();
});

it('says of an answer its route, its status and its code, and fails for the plane’s own faults only', () => {
  const { traces, spans } = recordingTraces();
  traces.begin().end({ ...ANSWER, status: 410, code: 'credential-revoked' });
  traces.begin().end({ ...ANSWER, status: 503, code: 'unavailable' });
  const asked = { 'http.request.method': 'POST', 'http.route': '/v1/check' };
  expect(spans()).toMatchObject([
    {
      attributes: { ...asked, 'http.response.status_code': 410, 'rollcall.problem': 'credential-revoked' },
      failed: false,
    },
    { attributes: { ...asked, 'http.response.status_code': 503, 'rollcall.problem': 'unavailable' }, failed: true },
  ]);
});

it('says nothing that a stranger may choose: a path without a route, and the method that it was asked with (O2)', () => {
  const { traces, spans } = recordingTraces();
  traces.begin().end({ ...ANSWER, method: 'MKCALENDAR', route: null, status: 404, code: 'not-found' });
  const attributes = { 'http.response.status_code': 404, 'rollcall.problem': 'not-found' };
  expect(spans()).toMatchObject([{ name: 'no route', attributes }]);
  expect(JSON.stringify(spans())).not.toContain('MKCALENDAR');
});

it('marks as failed what was begun and not done: an append that did not record it, a batch that was not published', async () => {
  const { traces, spans } = recordingTraces({ now: () => NOW });
  const batch = await followed(traces);
  traces.appends.traceAppend(batch.trace ?? '').end(null);
  traces.publishing([batch])(false);
  expect(spans().map(({ name, failed }) => `${name} ${failed}`)).toEqual([
    'append false',
    'POST /v1/check false',
    'append true',
    'publish true',
  ]);
});

it('does not go on with traces of a minute ago, so a rebuild or a catch-up makes none', async () => {
  const { traces, spans } = recordingTraces({ now: () => NOW + 60_000 });
  const batch = await followed(traces);
  const before = spans().length;
  traces.publishing([batch])(true);
  traces.projecting('presence')([batch])(true);
  expect(spans().length).toBe(before);
  expect([59_999, -59_999].map((age) => isRecent(NOW, NOW + age))).toEqual([true, true]);
  expect([60_000, -60_000].map((age) => isRecent(NOW, NOW + age))).toEqual([false, false]);
});

it('follows nothing where nobody wants traces', async () => {
  expect(NO_TRACES.sampled()).toBe(false);
  expect((await followed(NO_TRACES)).trace).toBeNull();
});
