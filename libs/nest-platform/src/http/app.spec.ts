import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Body, Controller, Get, Module, Post } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Refusal } from '@rollcall/decider';
import type { AnsweredRequest } from '@rollcall/telemetry';
import { PROBLEM_MEDIA_TYPE } from '@rollcall/wire';
import { IsInt, IsOptional, IsString, ValidateNested } from 'class-validator';
import { Type } from 'class-transformer';
import { Does, Authenticator, Caller, type Principal } from '../access/action.js';
import { routesOf } from '../access/routes.js';
import { HealthModule } from '../health/health.module.js';
import { openApiDocument } from '../openapi/openapi-document.js';
import { injectableApp, recordingLogger } from '../testing/index.js';
import { STRICT_BODY, TOLERANT_BODY } from '../validation/body-pipes.js';

class Inner {
  @IsInt()
  count!: number;
}
class Outer {
  @IsString()
  name!: string;
  @IsOptional()
  @ValidateNested()
  @Type(() => Inner)
  inner?: Inner;
}

@Controller('v1')
class Sample {
  @Does('tell-health')
  @Post('strict')
  strict(@Body(STRICT_BODY) body: Outer): unknown {
    return { got: body, polluted: ({} as { admin?: boolean }).admin ?? false };
  }

  @Does('tell-health')
  @Post('tolerant')
  tolerant(@Body(TOLERANT_BODY) body: Outer): unknown {
    return { got: body, polluted: ({} as { admin?: boolean }).admin ?? false };
  }

  @Does('tell-health')
  @Get('fault')
  fault(): never {
    throw new Error('connect failed: password=hunter2', { cause: new Error('the socket') });
  }

  @Does('accept-check')
  @Get('who')
  who(@Caller() principal: Principal): Principal {
    return principal;
  }
}

class OnlyRoot extends Authenticator {
  authenticate(bearer: string | null): Principal {
    if (bearer === 'person') return { kind: 'person', fresh: true };
    if (bearer !== 'root') throw this.unknown();
    return { kind: 'machine' };
  }

  unknown(): Refusal {
    return new Refusal('credential-unknown');
  }
}

let databaseIsUp = true;
@Module({
  imports: [
    HealthModule.register({
      checks: () => [
        {
          name: 'database',
          check: () => (databaseIsUp ? Promise.resolve() : Promise.reject(new Error('connect 10.0.0.9'))),
        },
      ],
    }),
  ],
  controllers: [Sample],
  providers: [{ provide: Authenticator, useClass: OnlyRoot }],
})
class SampleModule {}

let app: NestFastifyApplication;
let log: ReturnType<typeof recordingLogger>;
beforeEach(async () => {
  databaseIsUp = true;
  log = recordingLogger();
  app = await injectableApp(SampleModule, { logger: log.logger });
});
afterEach(() => app.close());

const post = (url: string, payload: string | Buffer, headers: Record<string, string> = {}) =>
  app.inject({ method: 'POST', url, payload, headers: { 'content-type': 'application/json', ...headers } });

it.each([
  ['broken JSON', '{"name":', {}, 400, 'malformed-body'],
  ['an empty body', '', {}, 400, 'malformed-body'],
  ['bytes that are not UTF-8', Buffer.from([0x22, 0xff, 0x22]), {}, 400, 'malformed-body'],
  ['five thousand nested arrays', '['.repeat(5_000) + ']'.repeat(5_000), {}, 400, 'malformed-body'],
  ['a body over 64 KiB', JSON.stringify({ name: 'x'.repeat(65_536) }), {}, 413, 'too-large'],
  ['another type', 'name=x', { 'content-type': 'application/x-www-form-urlencoded' }, 415, 'unsupported-type'],
  ['text', 'x', { 'content-type': 'text/plain' }, 415, 'unsupported-type'],
  ['an encoded body', '{}', { 'content-encoding': 'gzip' }, 415, 'unsupported-type'],
  ['a wrong type of field', '{"name":1}', {}, 422, 'invalid-body'],
  ['an array', '[]', {}, 422, 'invalid-body'],
  ['null', 'null', {}, 422, 'invalid-body'],
] as const)('answers %s with a problem document and no 5xx (C11)', async (_, payload, headers, status, code) => {
  const answer = await post('/v1/strict', payload, headers);
  expect({ status: answer.statusCode, code: answer.json<{ code: string }>().code }).toEqual({ status, code });
  expect(answer.headers['content-type']).toBe(PROBLEM_MEDIA_TYPE);
  expect(answer.json<{ requestId: string }>().requestId).toMatch(/^[0-9a-f-]{36}$/);
});

it('takes a body of exactly 64 KiB (C11)', async () => {
  const frame = JSON.stringify({ name: '' }).length;
  expect((await post('/v1/strict', JSON.stringify({ name: 'x'.repeat(65_536 - frame) }))).statusCode).toBe(201);
});

it('names the fields that are wrong, without their values', async () => {
  const answer = await post('/v1/strict', JSON.stringify({ name: 5, inner: { count: 'hunter2' }, extra: 1 }));
  expect(answer.json<{ errors: { field: string }[] }>().errors.map(({ field }) => field)).toEqual([
    'extra',
    'name',
    'inner.count',
  ]);
  expect(answer.body).not.toContain('hunter2');
});

it('drops unknown fields where liveness depends on it, and refuses them elsewhere (C11)', async () => {
  const body = JSON.stringify({ name: 'n', later: true, inner: { count: 1, later: 2 } });
  expect((await post('/v1/strict', body)).statusCode).toBe(422);
  const answer = await post('/v1/tolerant', body);
  expect(answer.json()).toEqual({ got: { name: 'n', inner: { count: 1 } }, polluted: false });
});

it.each(['{"name":"n","__proto__":{"admin":true}}', '{"name":"n","constructor":{"prototype":{"admin":true}}}'])(
  'lets no body reach a prototype: %s',
  async (body) => {
    const answer = await post('/v1/tolerant', body);
    expect(answer.json()).toEqual({ got: { name: 'n' }, polluted: false });
  },
);

it('answers an unknown route with not-found and a wrong method with those that are allowed', async () => {
  const unknown = await app.inject({ method: 'GET', url: '/v2/strict' });
  expect([unknown.statusCode, unknown.json<{ code: string }>().code]).toEqual([404, 'not-found']);
  const wrong = await app.inject({ method: 'DELETE', url: '/v1/strict?x=1' });
  expect([wrong.statusCode, wrong.json<{ code: string }>().code, wrong.headers.allow]).toEqual([
    405,
    'method-not-allowed',
    'POST',
  ]);
  const bad = await app.inject({ method: 'GET', url: '/v1/%ff' });
  expect([bad.statusCode, bad.json<{ code: string }>().code]).toEqual([400, 'bad-request']);
});

it('logs a fault once, with its cause and the id that the caller was told, and tells the caller nothing else', async () => {
  const answer = await app.inject({ method: 'GET', url: '/v1/fault' });
  const { requestId, ...problem } = answer.json<Record<string, unknown>>();
  expect(problem).toEqual({
    type: 'urn:rollcall:problem:internal',
    title: 'The plane failed',
    status: 500,
    code: 'internal',
  });
  const faults = log.lines().filter(({ level }) => level === 'error');
  expect(faults).toEqual([
    expect.objectContaining({
      requestId,
      err: expect.objectContaining({ cause: expect.objectContaining({ message: 'the socket' }) }),
    }),
  ]);
});

it('finds out who calls, and lets nobody else through', async () => {
  const anonymous = await app.inject({ method: 'GET', url: '/v1/who' });
  expect([anonymous.statusCode, anonymous.headers['www-authenticate']]).toEqual([401, 'Bearer']);
  const known = await app.inject({ method: 'GET', url: '/v1/who', headers: { authorization: 'Bearer root' } });
  expect(known.json()).toEqual({ kind: 'machine' });
});

it('writes neither an address nor a credential nor a query to its log (O2)', async () => {
  const request = {
    remoteAddress: '203.0.113.77',
    headers: { authorization: 'Bearer hunter2', cookie: 'a=hunter2', 'x-forwarded-for': '203.0.113.78' },
  };
  for (const url of ['/v1/who?secret=hunter2', '/v1/fault', '/nowhere/hunter2', '/v1/%ff'])
    await app.inject({ method: 'GET', url, ...request });
  await post('/v1/strict', '{"name":"hunter2"', { 'x-forwarded-for': '203.0.113.78' });
  log.logger.warn(
    { authorization: 'Bearer hunter3', req: { headers: { cookie: 'hunter3' } }, login: { token: 'hunter3' } },
    'x',
  );
  // An address that cannot be decoded is answered before any route, and leaves no line.
  expect(log.lines().filter(({ msg }) => msg === 'request')).toHaveLength(4);
  expect(log.text()).not.toMatch(/203\.0\.113|remote|hunter3/);
  expect(log.text().replaceAll('password=hunter2', '')).not.toContain('hunter2');
});

it.each(['/healthz', '/v1/who', '/nowhere'])('lets nobody keep the answer to %s or guess its type', async (url) => {
  const { headers } = await app.inject({ method: 'GET', url });
  expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
});

it.each([3_600, 0])(
  'tells browsers with every answer for how long they use HTTPS alone, where it is told to: %i s',
  async (seconds) => {
    const strict = await injectableApp(SampleModule, { httpsOnlySeconds: seconds });
    try {
      for (const url of ['/healthz', '/nowhere', '/%zz'])
        expect((await strict.inject(url)).headers['strict-transport-security']).toBe(`max-age=${seconds}`);
    } finally {
      await strict.close();
    }
    expect((await app.inject('/healthz')).headers).not.toHaveProperty('strict-transport-security');
  },
);

it('tells each answer by its route and its code, and never by the path that was asked for (O2)', async () => {
  const told: AnsweredRequest[] = [];
  const telling = await injectableApp(SampleModule, { answered: (request) => told.push(request) });
  const get = (url: string) => telling.inject({ url, headers: { authorization: 'Bearer rcm_secret' } });
  for (const url of ['/healthz', '/v1/who?secret=1', '/v1/fault', '/v1/nowhere/10.0.0.9', '/a%00b']) await get(url);
  await telling.close();
  const seconds = expect.any(Number);
  expect(told).toEqual([
    { method: 'GET', route: '/healthz', status: 200, code: null, seconds },
    { method: 'GET', route: '/v1/who', status: 401, code: 'credential-unknown', seconds },
    { method: 'GET', route: '/v1/fault', status: 500, code: 'internal', seconds },
    { method: 'GET', route: null, status: 404, code: 'not-found', seconds },
    { method: 'GET', route: null, status: 400, code: 'bad-request', seconds },
  ]);
});

it('is live always, and ready when its checks pass, without telling why they fail', async () => {
  expect((await app.inject({ method: 'GET', url: '/readyz' })).statusCode).toBe(200);
  databaseIsUp = false;
  const answer = await app.inject({ method: 'GET', url: '/readyz' });
  expect([answer.statusCode, answer.json<{ detail: string }>().detail]).toEqual([503, 'Not ready: database.']);
  expect(answer.headers['retry-after']).toBeDefined();
  expect(answer.body).not.toContain('10.0.0.9');
  expect((await app.inject({ method: 'GET', url: '/healthz' })).json()).toEqual({ status: 'live' });
});

it('lists its routes with what they do', () =>
  expect(routesOf(app).map(({ method, path, action }) => [method, path, action])).toEqual(
    expect.arrayContaining([
      ['GET', '/healthz', 'tell-health'],
      ['GET', '/readyz', 'tell-health'],
      ['GET', '/v1/who', 'accept-check'],
      ['POST', '/v1/strict', 'tell-health'],
    ]),
  ));

it('does not start with a route that does not declare what it does (O3)', async () => {
  @Controller()
  class Forgotten {
    @Get('forgotten')
    forgotten(): string {
      return 'open';
    }
  }
  @Module({ controllers: [Forgotten] })
  class ForgottenModule {}
  await expect(injectableApp(ForgottenModule)).rejects.toThrow('GET /forgotten (Forgotten.forgotten)');
});

it('asks who calls by the declaration of each controller, also for a method that they inherit', async () => {
  class Inherited {
    @Get()
    get(): string {
      return 'got';
    }
  }
  @Does('tell-health')
  @Controller('open')
  class Open extends Inherited {}
  @Does('accept-check')
  @Controller('closed')
  class Closed extends Inherited {}
  @Module({ controllers: [Open, Closed], providers: [{ provide: Authenticator, useClass: OnlyRoot }] })
  class InheritingModule {}
  const inheriting = await injectableApp(InheritingModule);
  try {
    expect((await inheriting.inject('/open')).statusCode).toBe(200);
    expect((await inheriting.inject('/closed')).statusCode).toBe(401);
  } finally {
    await inheriting.close();
  }
});

it.each([
  ['with a broken escape', '/%zz'],
  ['that is too long', `/healthz/${'x'.repeat(300)}`],
])('answers a path %s as the gate answers strangers, and keeps no connection for it', async (_, path) => {
  const strict = await injectableApp(SampleModule);
  try {
    const { headers } = await strict.inject(path);
    expect(headers).toMatchObject({
      connection: 'close',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'content-type': PROBLEM_MEDIA_TYPE,
    });
  } finally {
    await strict.close();
  }
});

it('describes its routes as OpenAPI without instantiating anything', async () => {
  const document = await openApiDocument(SampleModule, {
    title: 'T',
    description: 'D',
    version: '1',
    bearers: ['machine'],
  });
  expect(Object.keys(document.paths)).toEqual(['/v1/strict', '/v1/tolerant', '/v1/fault', '/v1/who']);
  expect(document.paths['/v1/who']?.get?.security).toEqual([{ machine: [] }]);
});
