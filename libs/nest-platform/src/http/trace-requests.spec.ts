import { expect, it } from '@jest/globals';
import { Body, Controller, Module, Post } from '@nestjs/common';
import { NO_TRACES, type Traces } from '@rollcall/telemetry';
import { recordingTraces } from '@rollcall/telemetry/testing';
import { Does } from '../access/action.js';
import { HealthModule } from '../health/health.module.js';
import { injectableApp, recordingLogger } from '../testing/index.js';

const STRANGERS = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

/** An app with a route that tells which trace it is answered in, or fails. */
const asking = async (traces: Traces) => {
  @Controller('v1')
  class Tracing {
    @Does('tell-health')
    @Post('trace')
    trace(@Body() { fails }: { fails?: boolean }): { trace: string | null } {
      if (fails) throw new Error('a fault');
      return { trace: traces.appends.currentTrace() };
    }
  }
  @Module({ imports: [HealthModule.register({ checks: () => [] })], controllers: [Tracing] })
  class TracingModule {}
  const { logger, lines } = recordingLogger();
  const app = await injectableApp(TracingModule, { logger, traces });
  const headers = { traceparent: STRANGERS, tracestate: 'a=b', 'content-type': 'application/json' };
  const post = (payload: string, url = '/v1/trace') => app.inject({ method: 'POST', url, headers, payload });
  const answer = (await post('{}')).json<{ trace: string | null }>();
  await post('{"fails":true}');
  for (const url of ['/healthz', '/readyz']) await app.inject({ url, headers });
  await app.close();
  return { answer, lines: lines().filter(({ requestId }) => requestId) };
};

it('follows a request from its head to its answer, whatever trace its sender believes to be in', async () => {
  const { traces, spans } = recordingTraces();
  const { answer } = await asking(traces);
  const [span] = spans();
  expect(answer.trace).toBe(`00-${span?.traceId}-${span?.id}-01`);
  expect(span).toMatchObject({ name: 'POST /v1/trace', parent: null, failed: false });
  expect(JSON.stringify(spans())).not.toContain(STRANGERS.split('-')[1]);
});

it('names the trace in each line of a followed request, and in no other', async () => {
  const { traces, spans } = recordingTraces();
  const ofLines = async (chosen: Traces) => (await asking(chosen)).lines.map(({ msg, traceId }) => [msg, traceId]);
  const told = await ofLines(traces);
  const [good, bad] = spans().map(({ traceId }) => traceId);
  expect(told).toEqual([
    ['request', good],
    ['a request failed', bad],
    ['request', bad],
    ['request', undefined],
    ['request', undefined],
  ]);
  expect((await ofLines(NO_TRACES)).map(([, traceId]) => traceId)).toEqual(told.map(() => undefined));
});

it('does not follow probes, nor what chance has not chosen', async () => {
  const [all, none] = [recordingTraces(), recordingTraces({ share: 0 })];
  await asking(all.traces);
  expect(all.spans().map(({ name }) => name)).toEqual(['POST /v1/trace', 'POST /v1/trace']);
  expect((await asking(none.traces)).answer.trace).toBeNull();
  expect(none.spans()).toEqual([]);
});
