import { expect, it } from '@jest/globals';
import { ConfigError, readConfig } from './read-config.js';

const shape = (environment: Record<string, string>) =>
  readConfig(environment, (settings) => ({
    database: settings.url('DB', ['postgres:']),
    port: settings.port('PORT', 8443),
    seconds: settings.number('SECONDS', { min: 1, max: 60, default: 5 }),
    level: settings.oneOf('LEVEL', ['info', 'warn'], 'info'),
    hosts: settings.list('HOSTS', ['localhost']),
    short: settings.flag('SHORT'),
    file: settings.optionalText('FILE'),
  }));

it('reads what is set and falls back to the defaults, an empty variable being one that is not set', () =>
  expect(shape({ DB: 'postgres://u:p@h/d', SECONDS: '1.5', HOSTS: 'a, b,', SHORT: '1', PORT: ' ' })).toEqual({
    database: 'postgres://u:p@h/d',
    port: 8443,
    seconds: 1.5,
    level: 'info',
    hosts: ['a', 'b'],
    short: true,
    file: null,
  }));

it('names every problem at the same time (C10)', () => {
  const read = () => shape({ PORT: '70000', SECONDS: 'NaN', LEVEL: 'loud', SHORT: 'maybe' });
  expect(read).toThrow(ConfigError);
  for (const part of ['DB is not set', 'PORT must be', 'SECONDS must be', 'LEVEL must be', 'SHORT must be'])
    expect(read).toThrow(part);
});

it.each(['0', '-5', 'abc', '1e9', 'Infinity', '0x10', '61', ''.padEnd(400, '9')])('refuses %s seconds (C10)', (text) =>
  expect(() => shape({ DB: 'postgres://h/d', SECONDS: text })).toThrow('SECONDS must be a number from 1 to 60'),
);

it('does not repeat a database address, which may hold a password', () => {
  const read = () => shape({ DB: 'mysql://user:hunter2@host' });
  expect(read).toThrow('DB is not a URL that begins with postgres:');
  expect(read).not.toThrow('hunter2');
});

it('is frozen, to its depths', () => {
  const config = shape({ DB: 'postgres://h/d' });
  expect(Object.isFrozen(config) && Object.isFrozen(config.hosts)).toBe(true);
});
