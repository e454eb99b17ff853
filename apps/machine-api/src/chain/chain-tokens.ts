import { LRUCache } from 'lru-cache';
import { createHmac, createSecretKey, timingSafeEqual, type KeyObject } from 'node:crypto';

/** Whose token it is, and in which epoch of the record it was issued. */
export type ChainPlace = { readonly machine: string; readonly epoch: string };

/** About 250 bytes each. */
const MOST_REMEMBERED = 50_000;

const FORM = /^([0-9a-f-]{36})\.(0|[1-9]\d{0,14})\.([A-Za-z0-9_-]{43})$/;

/**
 * The tokens that tie a machine's checks together (B2): `<epoch>.<n>.<HMAC-SHA256 of machine, epoch and n>`. Any instance with the
 * same key reads what another issued, and nothing about a token is stored but its number.
 */
export class ChainTokens {
  private readonly key: KeyObject;
  /** What a machine was issued last is what it presents next: that needs no second seal to be known as ours. */
  private readonly issued = new LRUCache<string, Issued>({ max: MOST_REMEMBERED });

  constructor(key: Buffer) {
    // Made once: from bytes it would be made anew for each seal, at twice the cost of the seal.
    this.key = createSecretKey(key);
  }

  /** Writes the token with a number. */
  issue({ machine, epoch }: ChainPlace, number: number): string {
    const token = `${epoch}.${number}.${this.seal({ machine, epoch }, String(number)).toString('base64url')}`;
    this.issued.set(machine, { token, epoch, number });
    return token;
  }

  /** The number of a token; null for one that is not ours, not this machine's, or of another epoch. */
  read(place: ChainPlace, token: string): number | null {
    const issued = this.issued.get(place.machine);
    if (issued?.token === token && issued.epoch === place.epoch) return issued.number;
    const [, epoch, number = '', seal = ''] = FORM.exec(token) ?? [];
    if (epoch !== place.epoch) return null;
    return timingSafeEqual(Buffer.from(seal, 'base64url'), this.seal(place, number)) ? Number(number) : null;
  }

  private seal({ machine, epoch }: ChainPlace, number: string): Buffer {
    return createHmac('sha256', this.key).update(`${machine}|${epoch}|${number}`).digest();
  }
}

type Issued = { readonly token: string; readonly epoch: string; readonly number: number };
