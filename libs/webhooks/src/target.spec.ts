import { describe, expect, it } from '@jest/globals';
import { ManualClock } from '@rollcall/lifetimes/testing';
import { readConfig } from '@rollcall/settings';
import { checkTarget, checkTargetWithin, mayConnect, parseAllowedTarget, readWebhookSettings } from './index.js';
import { FixedResolver } from './testing/index.js';

const check = (
  url: string,
  names: Record<string, readonly (readonly string[])[]> = {},
  allow: readonly string[] = [],
) => checkTarget(url, { resolver: new FixedResolver(names), allowed: allow.map((text) => parseAllowedTarget(text)!) });

describe('a target of a webhook', () => {
  it('may be a name of which every address is on the internet (C26)', async () =>
    expect(
      await check('https://hooks.example:8443/a?key=1', { 'hooks.example': [['203.0.113.7', '2606:4700::1111']] }),
    ).toMatchObject({ addresses: ['203.0.113.7', '2606:4700::1111'] }));

  it.each([
    '127.0.0.1',
    '2130706433',
    '0x7f000001',
    '0x7f.1',
    '017700000001',
    '127.1',
    '0.0.0.0',
    '10.0.0.5',
    '100.64.0.1',
    '169.254.169.254',
    '172.31.255.255',
    '192.168.1.1',
    '192.0.0.8',
    '198.19.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '[::]',
    '[::1]',
    '[::ffff:10.0.0.5]',
    '[::ffff:a00:5]',
    '[::10.0.0.5]',
    '[64:ff9b::a00:5]',
    '[64:ff9b:1::1]',
    '[2001::1]',
    '[2002:a00:5::]',
    '[fc00::1]',
    '[fd12::1]',
    '[fe80::1]',
    '[fec0::1]',
    '[ff02::1]',
  ])('is not https://%s/, however it is spelt (C26)', async (host) =>
    expect(await check(`https://${host}/`)).toEqual({ problem: 'address-not-allowed' }),
  );

  it('is not a name of which one address is closed (C26)', async () =>
    expect(await check('https://two.example/', { 'two.example': [['203.0.113.7', '10.0.0.1']] })).toEqual({
      problem: 'address-not-allowed',
    }));

  it.each([
    ['https://hooks.example:22/', 'port-not-allowed'],
    ['https://hooks.example:80/', 'port-not-allowed'],
    ['http://hooks.example/', 'not-encrypted'],
    ['https://user@hooks.example/', 'has-credentials'],
    ['https://:password@hooks.example/', 'has-credentials'],
    ['https://unknown.example/', 'not-resolved'],
    ['ftp://hooks.example/', 'not-a-url'],
    ['hooks.example', 'not-a-url'],
    ['https://', 'not-a-url'],
  ])('is not %s: %s (C26)', async (url, problem) =>
    expect(await check(url, { 'hooks.example': [['203.0.113.7']] })).toEqual({ problem }),
  );

  it('asks nobody for a name where no address could make it right', async () => {
    const resolver = new FixedResolver({});
    await checkTarget('http://hooks.example/', { resolver, allowed: [] });
    await checkTarget('https://hooks.example:22/', { resolver, allowed: [] });
    expect(resolver.asked).toEqual([]);
  });
});

it('counts as not resolved where nobody answers for its name in time (C26)', async () => {
  const clock = new ManualClock();
  const resolver = { addressesOf: () => new Promise<never>(() => undefined) };
  const checked = checkTargetWithin(5_000, 'https://hooks.example/', { resolver, allowed: [] }, clock);
  await clock.advance(5_000);
  expect(await checked).toEqual({ problem: 'not-resolved' });
});

describe('what an operator allows', () => {
  const names = {
    'in.example': [['10.1.2.3']],
    'out.example': [['203.0.113.7']],
    'both.example': [['10.1.2.3', '10.2.0.1']],
  };

  it('is a private network at the ordinary ports, or at the port that is named, there also unencrypted (C26)', async () => {
    expect(await check('https://in.example/', names, ['10.1.0.0/16'])).toMatchObject({ addresses: ['10.1.2.3'] });
    expect(await check('https://in.example:9000/', names, ['10.1.0.0/16'])).toEqual({ problem: 'port-not-allowed' });
    expect(await check('http://in.example:9000/', names, ['10.1.0.0/16:9000'])).toMatchObject({});
    expect(await check('http://in.example/', names, ['10.1.0.0/16:9000'])).toEqual({ problem: 'not-encrypted' });
    for (const port of [443, 8_443])
      expect(await check(`http://in.example:${port}/`, names, ['10.1.0.0/16'])).toEqual({ problem: 'not-encrypted' });
    expect(await check('http://out.example/', names, ['10.1.0.0/16:80'])).toEqual({ problem: 'not-encrypted' });
    expect(await check('https://both.example/', names, ['10.1.0.0/16'])).toEqual({ problem: 'address-not-allowed' });
  });

  it.each([
    ['10.1.0.0/16', { network: '10.1.0.0', prefix: 16, port: null }],
    ['10.1.2.3', { network: '10.1.2.3', prefix: 32, port: null }],
    ['10.1.2.3:9000', { network: '10.1.2.3', prefix: 32, port: 9_000 }],
    ['fd00::/8', { network: 'fd00::', prefix: 8, port: null }],
    ['[::1]:9000', { network: '::1', prefix: 128, port: 9_000 }],
    ['[fd00::]/8:443', { network: 'fd00::', prefix: 8, port: 443 }],
    ['10.1.0.0/33', null],
    ['10.1.0.0/16:0', null],
    ['10.1.0.0/16:70000', null],
    ['in.example', null],
    ['10.1', null],
    ['', null],
  ])('reads %s', (text, allowed) => expect(parseAllowedTarget(text)).toEqual(allowed));

  it('is refused at the start where it cannot be read, with every other problem (C10)', () =>
    expect(() =>
      readConfig(
        { ROLLCALL_WEBHOOK_ALLOW: '10.0.0.0/8,inside', ROLLCALL_WEBHOOK_CA_FILE: '/nowhere.pem' },
        readWebhookSettings,
      ),
    ).toThrow(/ROLLCALL_WEBHOOK_ALLOW: "inside"[\s\S]*ROLLCALL_WEBHOOK_CA_FILE: .*ENOENT/));
});

it('connects to no address of the plane’s own host, private or not, unless it is allowed (C26)', () => {
  const own = [['203.0.113.9', 32]] as const;
  const connection = { address: '203.0.113.9', port: 443, encrypted: true };
  expect(mayConnect(connection, [], own)).toBe(false);
  expect(mayConnect({ ...connection, address: '203.0.113.10' }, [], own)).toBe(true);
  expect(mayConnect(connection, [{ network: '203.0.113.9', prefix: 32, port: null }], own)).toBe(true);
});

it('connects to nothing that is not an address', () =>
  expect(mayConnect({ address: 'hooks.example', port: 443, encrypted: true }, [])).toBe(false));
