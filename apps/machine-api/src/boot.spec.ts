import { expect, it } from '@jest/globals';
import { InMemoryEventStore } from '@rollcall/event-store/testing';
import { routesOf } from '@rollcall/nest-platform';
import { document } from './openapi.js';
import { instanceOn } from './testing/plane.js';

it('builds from its root module, and every route declares what it does', async () => {
  const app = await instanceOn(new InMemoryEventStore());
  try {
    expect(routesOf(app).map(({ method, path, action }) => `${method} ${path} ${action}`)).toEqual([
      'POST /v1/check accept-check',
      'POST /v1/enrolments enrol',
      'POST /v1/preadmissions/redeem redeem-preadmission',
      'POST /v1/codes request-code',
      'POST /v1/codes/redeem redeem-code',
      'PUT /v1/log-tails/:stamp receive-log-tail',
      'POST /v1/credential/rotations start-rotation',
      'GET /healthz tell-health',
      'GET /readyz tell-health',
    ]);
  } finally {
    await app.close();
  }
});

it('is described by a document of the same routes', async () =>
  expect(Object.keys(((await document()) as { paths: object }).paths).sort()).toEqual([
    '/v1/check',
    '/v1/codes',
    '/v1/codes/redeem',
    '/v1/credential/rotations',
    '/v1/enrolments',
    '/v1/log-tails/{stamp}',
    '/v1/preadmissions/redeem',
  ]));
