import { createHash } from 'node:crypto';

/** The public key of a host as it is sent: type and blob of RFC 4253. */
export type HostKey = {
  /** Such as `ssh-ed25519`. */
  readonly type: string;
  /** The whole key in base64. */
  readonly blob: string;
};

/** Reads a key as a host presents it. */
export const hostKeyOf = (presented: Buffer): HostKey => {
  const length = presented.length >= 4 ? presented.readUInt32BE(0) : 0;
  return { type: presented.subarray(4, 4 + length).toString('latin1'), blob: presented.toString('base64') };
};

/** `SHA256:…`, as `ssh` and `ssh-keygen -l` show it. */
export const fingerprintOf = ({ blob }: HostKey): string =>
  `SHA256:${createHash('sha256').update(Buffer.from(blob, 'base64')).digest('base64').replace(/=+$/, '')}`;

/** Why no connection was made, in one sentence for a person, and a code for a program. Nothing was sent to authenticate. */
export abstract class HostKeyRefused extends Error {
  abstract readonly code: 'host-key-unknown' | 'host-key-changed' | 'pin-store-unusable';
}

/** A host is met for the first time, and nobody has said yes to its key. */
export class HostKeyUnknown extends HostKeyRefused {
  override readonly name = 'HostKeyUnknown';
  override readonly code = 'host-key-unknown';

  constructor(
    /** Under which name it would be pinned. */
    readonly host: string,
    readonly presented: HostKey,
  ) {
    super(
      `${host} is met for the first time and its key ${fingerprintOf(presented)} (${presented.type}) was not confirmed`,
    );
  }
}

/** A host presents another key than the one that was pinned. */
export class HostKeyChanged extends HostKeyRefused {
  override readonly name = 'HostKeyChanged';
  override readonly code = 'host-key-changed';

  constructor(
    readonly host: string,
    readonly pinned: HostKey,
    readonly presented: HostKey,
  ) {
    super(
      `${host} presents another key than before: ${fingerprintOf(presented)} (${presented.type}) instead of ${fingerprintOf(pinned)} (${pinned.type}). Somebody may be in between, or the host was installed anew`,
    );
  }
}

/** The file of pinned host keys cannot be read or makes no sense; without it no host is known, so none is dialled. */
export class PinStoreUnusable extends HostKeyRefused {
  override readonly name = 'PinStoreUnusable';
  override readonly code = 'pin-store-unusable';
}
