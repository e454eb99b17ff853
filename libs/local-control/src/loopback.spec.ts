import { describe, expect, it } from '@jest/globals';
import { refuseLongSocketPath, refuseNonLoopback } from './index.js';

const at = (address: string) => ({ address, family: 'any', port: 4_711 });

describe('a listener', () => {
  it.each([['127.0.0.1'], ['127.8.9.10'], ['::1'], ['::ffff:127.0.0.1']])('on %s is allowed (O1)', (address) =>
    expect(() => refuseNonLoopback(at(address))).not.toThrow(),
  );

  it('on a UNIX socket is allowed (O1)', () => expect(() => refuseNonLoopback('/run/agent.sock')).not.toThrow());

  it.each([
    ['0.0.0.0'],
    ['::'],
    ['10.0.0.1'],
    ['192.168.1.5'],
    ['fe80::1'],
    ['::ffff:10.0.0.1'],
    ['1270.0.0.1'],
    ['128.0.0.1'],
  ])('on %s is refused, and the sentence names it (O1)', (address) =>
    expect(() => refuseNonLoopback(at(address))).toThrow(`Refusing to listen on ${address} port 4711`),
  );
});

describe('the path of a socket', () => {
  it('may be 107 bytes long and not one more, counted in bytes', () => {
    expect(() => refuseLongSocketPath('/'.padEnd(107, 'a'))).not.toThrow();
    expect(() => refuseLongSocketPath('/'.padEnd(108, 'a'))).toThrow('108 bytes');
    expect(() => refuseLongSocketPath('/'.padEnd(60, 'ä'))).toThrow('119 bytes');
  });
});
