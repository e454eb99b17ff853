// Arrays as Postgres takes them in its binary format (array_recv): dimensions, whether there are nulls, the element's type, then length
// and bound of the dimension, then each element behind its length. As text, each quote in each state would be escaped on this side and
// unescaped on the other, which was a quarter of what the writer allocated (docs/performance.md).

const BOOL = 16;
const INT2 = 21;
const INT4 = 23;
const TEXT = 25;
const UUID = 2950;

const HEADER = 20;
const EMPTY_HEADER = 12;
const LENGTH = 4;
const NULL_LENGTH = -1;

/** A value that is none of the element's type. */
export class Unencodable extends Error {
  override readonly name = 'Unencodable';
}

/** Writes an element at an offset; its size is known before. */
type Element<Value> = {
  readonly type: number;
  size(value: Value): number;
  write(value: Value, into: Buffer, at: number): void;
};

const arrayOf =
  <Value>({ type, size, write }: Element<Value>) =>
  (values: readonly (Value | null)[]): Buffer => {
    if (values.length === 0) return header(Buffer.allocUnsafe(EMPTY_HEADER), { dimensions: 0, nulls: false, type });
    let nulls = false;
    let total = HEADER;
    for (const value of values) {
      total += LENGTH;
      if (value === null) nulls = true;
      else total += size(value);
    }
    const buffer = header(Buffer.allocUnsafe(total), { dimensions: 1, nulls, type });
    buffer.writeInt32BE(values.length, 12);
    buffer.writeInt32BE(1, 16); // arrays count from one
    let at = HEADER;
    for (const value of values) {
      const length = value === null ? NULL_LENGTH : size(value);
      buffer.writeInt32BE(length, at);
      at += LENGTH;
      if (value === null) continue;
      write(value, buffer, at);
      at += length;
    }
    return buffer;
  };

const header = (
  buffer: Buffer,
  { dimensions, nulls, type }: { readonly dimensions: number; readonly nulls: boolean; readonly type: number },
): Buffer => {
  buffer.writeInt32BE(dimensions, 0);
  buffer.writeInt32BE(nulls ? 1 : 0, 4);
  buffer.writeInt32BE(type, 8);
  return buffer;
};

const within = (value: number, limit: number): number => {
  if (Number.isInteger(value) && value >= -limit && value < limit) return value;
  throw new Unencodable(`${value} is out of range`);
};

/** `boolean[]` */
export const booleans = arrayOf<boolean>({
  type: BOOL,
  size: () => 1,
  write: (value, into, at) => into.writeUInt8(value ? 1 : 0, at),
});

/** `smallint[]`. @throws Unencodable for a number that is none. */
export const smallints = arrayOf<number>({
  type: INT2,
  size: () => 2,
  write: (value, into, at) => into.writeInt16BE(within(value, 2 ** 15), at),
});

/** `integer[]`. @throws Unencodable for a number that is none. */
export const integers = arrayOf<number>({
  type: INT4,
  size: () => 4,
  write: (value, into, at) => into.writeInt32BE(within(value, 2 ** 31), at),
});

/** `text[]` in a database whose encoding is UTF-8. */
export const texts = arrayOf<string>({
  type: TEXT,
  size: (value) => Buffer.byteLength(value),
  write: (value, into, at) => into.write(value, at),
});

const UUID_FORM = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** `uuid[]`. @throws Unencodable for a text that is none. */
export const uuids = arrayOf<string>({
  type: UUID,
  size: () => 16,
  write: (value, into, at) => {
    if (!UUID_FORM.test(value)) throw new Unencodable(`"${value}" is no UUID`);
    into.write(value.replaceAll('-', ''), at, 'hex');
  },
});
