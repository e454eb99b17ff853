import { expect, it } from '@jest/globals';
import { document } from './openapi.js';

it('describes every route with who may call it, without a database (U6)', async () => {
  const { paths, components } = await document();
  expect(
    Object.entries(paths)
      .flatMap(([path, item]) => Object.keys(item).map((method) => `${method} ${path}`))
      .sort(),
  ).toEqual([
    'delete /v1/automation-tokens/{token}',
    'delete /v1/machines/{machine}',
    'delete /v1/machines/{machine}/pause',
    'delete /v1/promises',
    'delete /v1/sessions/current',
    'delete /v1/webhooks/{webhook}',
    'delete /v1/workspaces/{workspace}/bindings',
    'delete /v1/workspaces/{workspace}/members',
    'get /v1/automation-tokens',
    'get /v1/blockers',
    'get /v1/machines',
    'get /v1/machines/{machine}',
    'get /v1/machines/{machine}/history',
    'get /v1/machines/{machine}/log-tail',
    'get /v1/machines/{machine}/readiness',
    'get /v1/machines/{machine}/why',
    'get /v1/me',
    'get /v1/people',
    'get /v1/presence',
    'get /v1/presence/stream',
    'get /v1/promises',
    'get /v1/read-models',
    'get /v1/webhooks',
    'get /v1/webhooks/{webhook}/deliveries',
    'get /v1/workspaces',
    'get /v1/workspaces/{workspace}',
    'patch /v1/machines/{machine}',
    'patch /v1/machines/{machine}/labels',
    'post /v1/automation-tokens',
    'post /v1/codes/approve',
    'post /v1/codes/look-up',
    'post /v1/codes/refuse',
    'post /v1/device-authorization',
    'post /v1/enrolment-tokens',
    'post /v1/logins/approve',
    'post /v1/logins/look-up',
    'post /v1/logins/refuse',
    'post /v1/machines/{machine}/log-tail-requests',
    'post /v1/machines/{machine}/pause',
    'post /v1/machines/{machine}/rotation-requests',
    'post /v1/people',
    'post /v1/people/{person}/sign-in-links',
    'post /v1/preadmissions',
    'post /v1/read-models/{name}/rebuild',
    'post /v1/sessions',
    'post /v1/sessions/browser',
    'post /v1/token',
    'post /v1/webhooks',
    'post /v1/webhooks/{webhook}/pause',
    'post /v1/webhooks/{webhook}/replay',
    'post /v1/webhooks/{webhook}/resume',
    'post /v1/webhooks/{webhook}/secret',
    'post /v1/webhooks/{webhook}/test',
    'post /v1/workspaces',
    'put /v1/promises',
    'put /v1/workspaces/{workspace}/bindings',
    'put /v1/workspaces/{workspace}/members',
  ]);
  const open = Object.entries(paths).filter(([, item]) =>
    Object.values(item as object).some((operation: { security?: unknown }) => operation.security === undefined),
  );
  expect(open.map(([path]) => path)).toEqual([
    '/v1/sessions',
    '/v1/sessions/browser',
    '/v1/device-authorization',
    '/v1/token',
  ]);
  expect(components?.schemas?.['MachineDto']).toMatchObject({ properties: { lifecycle: { nullable: true } } });
});
