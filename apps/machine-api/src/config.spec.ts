import { expect, it } from '@jest/globals';
import { ConfigError } from '@rollcall/settings';
import { readMachineApiConfig } from './config.js';

const ENOUGH = {
  ROLLCALL_DATABASE_URL: 'postgres://rollcall@localhost/rollcall',
  ROLLCALL_CA_DIR: '/var/lib/rollcall/ca',
  ROLLCALL_CHAIN_KEY_FILE: '/var/lib/rollcall/chain.key',
};

it('has a default for everything but the database, the certificate and the chain key', () =>
  expect(readMachineApiConfig(ENOUGH)).toEqual({
    database: { url: ENOUGH.ROLLCALL_DATABASE_URL, migrations: 'infra/migrations' },
    host: '127.0.0.1',
    port: 8443,
    tls: { directory: ENOUGH.ROLLCALL_CA_DIR, name: 'machine-api', hosts: ['localhost', '127.0.0.1', '::1'] },
    chainKeyFile: ENOUGH.ROLLCALL_CHAIN_KEY_FILE,
    policy: { interval: 30, windowFloor: 120 },
    rotation: { afterDays: null },
    operatorApi: null,
    markMs: 5_000,
    metrics: null,
    traces: null,
    logLevel: 'info',
  }));

it('names everything that is missing at the same time', () => {
  const read = () => readMachineApiConfig({});
  for (const name of Object.keys(ENOUGH)) expect(read).toThrow(`${name} is not set`);
});

it('takes certificate files of one’s own, both or none', () => {
  const files = { ROLLCALL_TLS_CERT_FILE: '/etc/tls.crt', ROLLCALL_TLS_KEY_FILE: '/etc/tls.key' };
  const { ROLLCALL_CA_DIR: _, ...without } = ENOUGH;
  expect(readMachineApiConfig({ ...without, ...files }).tls).toEqual({
    certificateFile: '/etc/tls.crt',
    keyFile: '/etc/tls.key',
  });
  expect(() => readMachineApiConfig({ ...ENOUGH, ROLLCALL_TLS_CERT_FILE: '/etc/tls.crt' })).toThrow('belong together');
});

it('speaks plain HTTP only to a proxy on the same host', () => {
  const plain = { ...ENOUGH, ROLLCALL_TLS: 'off' };
  expect(readMachineApiConfig(plain).tls).toBeNull();
  expect(() => readMachineApiConfig({ ...plain, ROLLCALL_MACHINE_API_HOST: '0.0.0.0' })).toThrow(
    'ROLLCALL_TLS=off is for a proxy on this host',
  );
  expect(() => readMachineApiConfig({ ...plain, ROLLCALL_TLS: 'no' })).toThrow('ROLLCALL_TLS');
});

it.each(['0', '-5', 'abc', '0.001', '1e9', '9', '3601', 'Infinity'])(
  'refuses to issue an interval of %s seconds (C10)',
  (text) => expect(() => readMachineApiConfig({ ...ENOUGH, ROLLCALL_INTERVAL_SECONDS: text })).toThrow(ConfigError),
);

it('allows short windows only where a test asks for them (C10)', () => {
  const short = { ...ENOUGH, ROLLCALL_INTERVAL_SECONDS: '1', ROLLCALL_WINDOW_FLOOR_SECONDS: '3' };
  expect(() => readMachineApiConfig(short)).toThrow(/INTERVAL_SECONDS must be[\s\S]*WINDOW_FLOOR_SECONDS must be/);
  expect(readMachineApiConfig({ ...short, ROLLCALL_TEST_SHORT_WINDOWS: '1' }).policy).toEqual({
    interval: 1,
    windowFloor: 3,
  });
});

it('tells installations where to type their codes only by an origin that somebody has set (O12)', () => {
  const address = { ...ENOUGH, ROLLCALL_OPERATOR_API_ADDRESS: 'https://plane.example:8444' };
  expect(readMachineApiConfig(address).operatorApi).toBe('https://plane.example:8444');
  expect(() => readMachineApiConfig({ ...ENOUGH, ROLLCALL_OPERATOR_API_ADDRESS: 'plane.example/x' })).toThrow(
    'ROLLCALL_OPERATOR_API_ADDRESS is not an origin',
  );
});

it('marks often enough that an idle plane never looks deaf (B1)', () => {
  const marks = { ...ENOUGH, ROLLCALL_GAP_SECONDS: '3', ROLLCALL_MARK_SECONDS: '1' };
  expect(readMachineApiConfig(marks).markMs).toBe(1_000);
  expect(() => readMachineApiConfig({ ...marks, ROLLCALL_MARK_SECONDS: '1.1' })).toThrow('at most a third');
  expect(() => readMachineApiConfig({ ...ENOUGH, ROLLCALL_GAP_SECONDS: '61' })).toThrow('ROLLCALL_GAP_SECONDS');
});
