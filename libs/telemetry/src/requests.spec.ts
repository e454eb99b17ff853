import { beforeEach, expect, it } from '@jest/globals';
import { measureRequests, type AnsweredRequest } from './index.js';
import { recordingMeter, type RecordingMeter } from './testing/index.js';

let recording: RecordingMeter;
let answered: (request: AnsweredRequest) => void;
beforeEach(() => {
  recording = recordingMeter();
  answered = measureRequests(recording.meter);
});

const answer = (over: Partial<AnsweredRequest> = {}): AnsweredRequest => ({
  method: 'GET',
  route: '/v1/machines/:id',
  status: 200,
  code: null,
  seconds: 0.004,
  ...over,
});

it('counts answers by the template of the route, method and class of status, and adds up their time', async () => {
  for (const status of [200, 201, 404]) answered(answer({ status }));
  const label = (status: string) => `{method="GET",route="/v1/machines/:id",status="${status}"}`;
  const metric = 'rollcall_http_request_duration_seconds';
  expect(await recording.samples(`${metric}_count`)).toEqual([
    `${metric}_count${label('2xx')} 2`,
    `${metric}_count${label('4xx')} 1`,
  ]);
  expect(await recording.samples(`${metric}_sum`)).toEqual([
    `${metric}_sum${label('2xx')} 0.008`,
    `${metric}_sum${label('4xx')} 0.004`,
  ]);
});

it('makes no label of what a stranger may choose: a path without a route, and the method that it was asked with (O2)', async () => {
  for (const method of ['GET', 'MKCALENDAR', 'M-SEARCH']) answered(answer({ method, route: null, status: 404 }));
  const metric = 'rollcall_http_request_duration_seconds_count';
  expect(await recording.samples(metric)).toEqual([`${metric}{method="any",route="none",status="4xx"} 3`]);
});

it('counts callers that were told to come again, from zero on, and not the probes of readiness', async () => {
  const metric = 'rollcall_http_unavailable_total';
  expect(await recording.samples(metric)).toEqual([`${metric} 0`]);
  for (const route of ['/v1/check', null, '/readyz']) answered(answer({ route, status: 503, code: 'unavailable' }));
  answered(answer({ status: 500, code: 'internal' }));
  expect(await recording.samples(metric)).toEqual([`${metric} 2`]);
});
