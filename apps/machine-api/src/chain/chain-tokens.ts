import { createHmac, createSecretKey, timingSafeEqual, type KeyObject } from 'node:crypto';

/** Whose token it is, and in which epoch of the record it was issued. */
export type ChainPlace = { readonly machine: string; readonly epoch: string };

const FORM = /^([0-9a-f-]{36})\.(0|[1-9]\d{0,14})\.([A-Za-z0-9_-]{43})$/;

/**
 * The tokens that tie a machine's checks together (B2): `<epoch>.<n>.<HMAC-SHA256 of machine, epoch and n>`. Any instance with the
 * same key reads what another issued, and nothing about a token is stored but its number.
 */
export class ChainTokens {
  private readonly key: KeyObject;

  constructor(key: Buffer) {
    // Made once: from bytes it would be made anew for each seal, at twice the cost of the seal.
    this.key = createSecretKey(key);
  }

  /** Writes the token with a number. */
  issue({ machine, epoch }: ChainPlace, number: number): string {
    return `${epoch}.${number}.${this.seal({ machine, epoch }, String(number)).toString('base64url')}`;
  }

  /** The number of a token; null for one that is not ours, not this machine's, or of another epoch. */
  read(place: ChainPlace, token: string): number | null {
    const [, epoch, number = '', seal = ''] = FORM.exec(token) ?? [];
    if (epoch !== place.epoch) return null;
    return timingSafeEqual(Buffer.from(seal, 'base64url'), this.seal(place, number)) ? Number(number) : null;
  }

  private seal({ machine, epoch }: ChainPlace, number: string): Buffer {
    return createHmac('sha256', this.key).update(`${machine}|${epoch}|${number}`).digest();
  }
}
