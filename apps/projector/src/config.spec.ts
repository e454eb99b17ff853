import { expect, it } from '@jest/globals';
import { readProjectorConfig } from './config.js';

const DATABASE = 'postgres://rollcall_app@localhost/rollcall';

it('needs nothing but the database', () =>
  expect(readProjectorConfig({ ROLLCALL_DATABASE_URL: DATABASE })).toEqual({
    database: { url: DATABASE, migrations: 'infra/migrations' },
    port: 8_445,
    gapSeconds: 15,
    feed: null,
    webhooks: { keyFile: null, allowed: [], ca: null },
    metrics: null,
    traces: null,
    logLevel: 'info',
  }));

it('reports everything that is wrong at the same time, and is frozen', () => {
  const wrong = { ROLLCALL_PROJECTOR_PORT: 'x', ROLLCALL_GAP_SECONDS: '0', ROLLCALL_LOG_LEVEL: 'loud' };
  expect(() => readProjectorConfig(wrong)).toThrow(
    /ROLLCALL_DATABASE_URL[\s\S]*ROLLCALL_PROJECTOR_PORT[\s\S]*ROLLCALL_GAP_SECONDS[\s\S]*ROLLCALL_LOG_LEVEL/,
  );
  expect(Object.isFrozen(readProjectorConfig({ ROLLCALL_DATABASE_URL: DATABASE }))).toBe(true);
});
