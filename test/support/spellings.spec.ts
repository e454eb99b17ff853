import { describe, expect, it } from '@jest/globals';
import { foundIn, spellingsOf, spellingsOfAddress, type Sought } from './spellings.js';

const found = (text: string | Buffer, sought: Sought) => foundIn(Buffer.from(text as string), [sought]).length > 0;

describe('a search for bytes', () => {
  const secret = 'rcm_0123456789abcdefghij';
  const sought = { name: 'secret', spellings: spellingsOf(Buffer.from(secret)) };

  it.each([
    ['as they are', `key=${secret};`],
    ['in hexadecimal', `\\x00${Buffer.from(secret).toString('hex')}ff`],
    ['in hexadecimal with capitals', Buffer.from(secret).toString('hex').toUpperCase()],
    ['in base64 behind nothing', Buffer.from(`${secret}~~~`).toString('base64')],
    ['in base64 behind one byte', Buffer.from(`?${secret}`).toString('base64')],
    ['in base64 behind two bytes', Buffer.from(`??${secret}?`).toString('base64url')],
    ['in base64 as basic authentication', Buffer.from(`someone:${secret}`).toString('base64')],
  ])('finds them %s', (_, text) => expect(found(text, sought)).toBe(true));

  it('finds nothing where they are not', () => {
    expect(found(secret.slice(1), sought)).toBe(false);
    expect(found(Buffer.from(secret.slice(1)).toString('base64'), sought)).toBe(false);
  });

  it('knows both alphabets of base64', () => {
    const bytes = Buffer.from('fbefbefbefbefffffffe', 'hex');
    const both = { name: 'bytes', spellings: spellingsOf(bytes) };
    expect([bytes.toString('base64'), bytes.toString('base64url')].map((text) => found(text, both))).toEqual([
      true,
      true,
    ]);
  });
});

it.each([
  '127.0.0.77',
  '[::ffff:127.0.0.77]:443',
  '::ffff:7f00:4d',
  '4D00007F:01BB',
  '0x7f00004d',
  'from 2130706509',
  '77.0.0.127.in-addr.arpa',
  'ip-127-0-0-77',
  Buffer.from('("127.0.0.77")').toString('base64'),
  Buffer.from([2, 32, 127, 0, 0, 77]),
])('a search for an address finds %s', (text) =>
  expect(found(text, { name: 'address', spellings: spellingsOfAddress('127.0.0.77') })).toBe(true),
);
