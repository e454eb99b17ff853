import { expect, it } from '@jest/globals';
import { decodePlaneAddress, encodePlaneAddress } from './index.js';

it.each([[[]], [[`sha256/${Buffer.alloc(32, 255).toString('base64')}`]]])(
  'reads the address of a plane as it was written, with the pins %j',
  (pins) => {
    const place = { address: 'https://127.0.0.1:8444', pins };
    expect(decodePlaneAddress(` ${encodePlaneAddress(place)}\n`)).toEqual(place);
    expect(decodePlaneAddress('https://plane.example/')).toEqual({ address: 'https://plane.example', pins: [] });
  },
);

it.each([
  ['hello', 'not the address'],
  ['http://plane.example', 'not the address'],
  ['https://plane.example/machines', 'more than the address'],
  ['https://plane.example/?a=b', 'more than the address'],
  ['https://me:secret@plane.example', 'more than the address'],
  ['https://plane.example/#abc', 'pin in this address is damaged'],
])('refuses %s as the address of a plane', (text, words) => expect(() => decodePlaneAddress(text)).toThrow(words));
