/**
 * Why a request got no answer.
 *
 * - `unreachable`: no connection, or it broke before a whole answer had come
 * - `certificate-not-pinned`: the server proved a key, but none that we expect
 * - `certificate-not-yet-valid`, `certificate-expired`: the right authority, but our clock lies outside of the validity
 * - `certificate-other-host`: issued for another name
 * - `certificate-untrusted`: the system's store does not vouch for it, or the chain does not hold
 * - `answer-too-large`: more than the caller wanted to read
 * - `aborted`: the caller's signal
 */
export type TransportFailure =
  | 'unreachable'
  | 'certificate-not-pinned'
  | 'certificate-not-yet-valid'
  | 'certificate-expired'
  | 'certificate-other-host'
  | 'certificate-untrusted'
  | 'answer-too-large'
  | 'aborted';

/** A request that got no answer. No `certificate-…` failure has sent a byte of the request. */
export class TransportError extends Error {
  override readonly name = 'TransportError';
  constructor(
    readonly code: TransportFailure,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

const CODES: Readonly<Record<string, TransportFailure>> = {
  CERT_NOT_YET_VALID: 'certificate-not-yet-valid',
  CERT_HAS_EXPIRED: 'certificate-expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'certificate-other-host',
  CERT_REVOKED: 'certificate-untrusted',
  CERT_UNTRUSTED: 'certificate-untrusted',
  CERT_REJECTED: 'certificate-untrusted',
  CERT_SIGNATURE_FAILURE: 'certificate-untrusted',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'certificate-untrusted',
  SELF_SIGNED_CERT_IN_CHAIN: 'certificate-untrusted',
  UNABLE_TO_GET_ISSUER_CERT: 'certificate-untrusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'certificate-untrusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'certificate-untrusted',
};

/** Turns whatever Node's network stack throws into a `TransportError`. */
export const asTransportError = (error: unknown, signal?: AbortSignal): TransportError => {
  if (error instanceof TransportError) return error;
  if (signal?.aborted === true) return new TransportError('aborted', 'The request was given up', { cause: error });
  const { code, message } = error as NodeJS.ErrnoException;
  return new TransportError(CODES[code ?? ''] ?? 'unreachable', message || (code ?? 'No connection'), { cause: error });
};
