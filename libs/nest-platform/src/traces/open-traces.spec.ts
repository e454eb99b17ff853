import { expect, it } from '@jest/globals';
import { readConfig, type Environment } from '@rollcall/settings';
import { NO_TRACES } from '@rollcall/telemetry';
import { readTraces } from '../config/service-settings.js';
import { recordingLogger } from '../testing/index.js';
import { openTraces } from './open-traces.js';

const read = (environment: Environment) =>
  readConfig(environment, (settings) => ({ traces: readTraces(settings) })).traces;
const URL_OF = 'ROLLCALL_TRACES_URL';

it('follows and sends nothing where no collector is named, whatever the share', () => {
  const { logger, lines } = recordingLogger();
  expect(openTraces(read({ ROLLCALL_TRACES_SHARE: '1' }), 'test', logger)).toBe(NO_TRACES);
  expect(lines()).toEqual([]);
});

it('follows one request of a hundred where nobody says how many, and says so', async () => {
  const { logger, lines } = recordingLogger();
  const traces = openTraces(read({ [URL_OF]: 'http://127.0.0.1:4318' }), 'test', logger);
  await traces.close();
  expect(lines()).toMatchObject([{ msg: 'traces are sent', collector: 'http://127.0.0.1:4318', share: 0.01 }]);
});

it('tells the log no more of a collector than where it is: a query may hold a key (I10)', async () => {
  const { logger, text } = recordingLogger();
  await openTraces(read({ [URL_OF]: 'http://127.0.0.1:4318/v1/traces?api_key=canary' }), 'test', logger).close();
  expect(text()).toContain('http://127.0.0.1:4318');
  expect(text()).not.toContain('canary');
});

it('takes an address as it is where it has a path', () =>
  expect(read({ [URL_OF]: 'https://collector.example/otlp', ROLLCALL_TRACES_SHARE: '0.5' })).toEqual({
    url: 'https://collector.example/otlp',
    share: 0.5,
  }));

it.each([
  [{ [URL_OF]: 'grpc://collector' }, URL_OF],
  [{ [URL_OF]: 'collector:4318' }, URL_OF],
  [{ [URL_OF]: 'http://user:hunter2@collector' }, URL_OF],
  [{ ROLLCALL_TRACES_SHARE: '1.01' }, 'ROLLCALL_TRACES_SHARE must be a number from 0 to 1'],
  [{ ROLLCALL_TRACES_SHARE: '1 %' }, 'ROLLCALL_TRACES_SHARE must be'],
])('names the setting that is wrong, and repeats no password (C10)', (environment, problem) => {
  expect(() => read(environment)).toThrow(problem);
  expect(() => read(environment)).not.toThrow('hunter2');
});
