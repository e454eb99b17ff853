import { expect, it } from '@jest/globals';
import { InMemoryEventStore } from '@rollcall/event-store/testing';
import { routesOf } from '@rollcall/nest-platform';
import { document } from './openapi.js';
import { instanceOn } from './testing/plane.js';

it('builds from its root module, and every route declares who may call it', async () => {
  const app = await instanceOn(new InMemoryEventStore());
  try {
    expect(routesOf(app).map(({ method, path, allowed }) => `${method} ${path} ${allowed?.join()}`)).toEqual([
      'POST /v1/check machine',
      'POST /v1/enrolments anybody',
      'PUT /v1/log-tails/:stamp machine',
      'GET /healthz anybody',
      'GET /readyz anybody',
    ]);
  } finally {
    await app.close();
  }
});

it('is described by a document of the same routes', async () =>
  expect(Object.keys(((await document()) as { paths: object }).paths).sort()).toEqual([
    '/v1/check',
    '/v1/enrolments',
    '/v1/log-tails/{stamp}',
  ]));
