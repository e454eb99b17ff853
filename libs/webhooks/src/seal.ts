import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Something is not sealed with this key, or is not what was sealed in this place. */
export class NotUnsealed extends Error {
  override readonly name = 'NotUnsealed';
}

/** Seals a text with AES-256-GCM: nonce, ciphertext, tag. It opens only with the same key and in the same place. */
export const seal = (key: Buffer, place: string, text: string): Buffer => {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(place));
  return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
};

/** @throws NotUnsealed */
export const unseal = (key: Buffer, place: string, sealed: Buffer): string => {
  try {
    const decipher = createDecipheriv(ALGORITHM, key, sealed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(place)).setAuthTag(sealed.subarray(-TAG_BYTES));
    return decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
  } catch (cause) {
    throw new NotUnsealed('It is sealed with another key, or was changed', { cause });
  }
};
