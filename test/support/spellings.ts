/** Something that must stand nowhere: what it is called, and the bytes that would show that it does. */
export type Sought = { readonly name: string; readonly spellings: readonly Buffer[] };

/**
 * The ways in which bytes come to be written down: as they are, in hexadecimal, and in base64 of either alphabet, also where something else
 * stands before or after them.
 *
 * @param bytes eight or more; fewer would be found by chance
 */
export const spellingsOf = (bytes: Buffer): readonly Buffer[] => {
  const hex = bytes.toString('hex');
  const base64 = [0, 1, 2].flatMap((before) => [
    inBase64(bytes, before, 'base64'),
    inBase64(bytes, before, 'base64url'),
  ]);
  const texts = [...new Set([hex, hex.toUpperCase(), ...base64])];
  return [bytes, ...texts.map((text) => Buffer.from(text))];
};

/** The digits that depend on these bytes alone when so many others stand before them. */
const inBase64 = (bytes: Buffer, before: number, alphabet: 'base64' | 'base64url'): string =>
  Buffer.concat([Buffer.alloc(before), bytes])
    .toString(alphabet)
    .slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));

/** Which of them stand in a text. */
export const foundIn = (text: Buffer, sought: readonly Sought[]): readonly Sought[] =>
  sought.filter(({ spellings }) => spellings.some((spelling) => text.includes(spelling)));

/** An IPv4 address in all the ways that programs write one: with dots, as a number, for the kernel, for a name server, inside an IPv6 address. */
export const spellingsOfAddress = (address: string): readonly Buffer[] => {
  const bytes = Buffer.from(address.split('.').map(Number));
  const number = bytes.readUInt32BE();
  const [high = '', low = ''] = [bytes.subarray(0, 2), bytes.subarray(2)].map((half) =>
    half.readUInt16BE().toString(16),
  );
  const texts = [
    bytes.toString('hex'),
    Buffer.from(bytes.toReversed()).toString('hex'),
    String(number),
    address.split('.').toReversed().join('.'),
    address.replaceAll('.', '-'),
    `::ffff:${high}:${low}`,
  ];
  return [
    bytes,
    ...spellingsOf(Buffer.from(address)),
    ...texts.flatMap((text) => [Buffer.from(text), Buffer.from(text.toUpperCase())]),
  ];
};
