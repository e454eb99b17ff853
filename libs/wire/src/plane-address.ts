import { pinOfShort, shortPin } from './pin.js';

/** Where a plane is, and the CA key to expect there. */
export type PlaneAddress = {
  /** Origin of the operator API, `https://host:port`. */
  readonly address: string;
  /** `sha256/<base64>`, of which an address carries the first; empty for a plane with a public certificate. */
  readonly pins: readonly string[];
};

/** Writes an address as people paste it: `https://host:port`, with `/#<base64url of the pin's hash>` where there is a pin. No secret. */
export const encodePlaneAddress = ({ address, pins: [pin] }: PlaneAddress): string =>
  pin === undefined ? address : `${address}/#${shortPin(pin)}`;

/** Reads an address. @throws Error with one sentence for the person who typed it. */
export const decodePlaneAddress = (text: string): PlaneAddress => {
  const trimmed = text.trim();
  const url = URL.canParse(trimmed) ? new URL(trimmed) : null;
  if (url?.protocol !== 'https:' || url.host === '')
    throw new Error('This is not the address of a plane: it starts with "https://" and is one word.');
  if (url.pathname !== '/' || url.search !== '' || url.username !== '' || url.password !== '')
    throw new Error('This is more than the address of a plane, such as https://plane.example:8444.');
  if (url.hash === '') return { address: url.origin, pins: [] };
  const pin = pinOfShort(url.hash.slice(1));
  if (pin === null) throw new Error('The pin in this address is damaged: was all of it copied?');
  return { address: url.origin, pins: [pin] };
};
