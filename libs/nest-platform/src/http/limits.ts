import { BODY_LIMIT_BYTES, LOG_TAIL_LIMIT_BYTES } from '@rollcall/wire';

/** What one instance gives a connection before it lets go of it. */
export type HttpLimits = {
  /** Bytes of a request's body, counted before it is parsed. */
  readonly bodyBytes: number;
  /** Bytes of a body on a route that takes bytes instead of JSON. */
  readonly bytesBody: number;
  /** Requests with such a body that are under way at a time; beyond it they are asked to come again. */
  readonly bytesBodies: number;
  /** Levels of arrays and objects in a JSON body. */
  readonly bodyDepth: number;
  readonly headerBytes: number;
  /** Until the TLS handshake is done. */
  readonly handshakeTimeoutMs: number;
  /** Until the headers are complete. */
  readonly headersTimeoutMs: number;
  /** Until the request is complete, with its body. */
  readonly requestTimeoutMs: number;
  /** How often the two limits above are looked at. */
  readonly checkingIntervalMs: number;
  /** How long nothing may move on a connection while a request is answered: who does not read is not waited for. Longer than any statement. */
  readonly stalledTimeoutMs: number;
  /** How long a connection without a request is kept. Longer than the usual interval between two checks. */
  readonly keepAliveTimeoutMs: number;
  /** How many connections are kept after their answer, of callers whom we know; each costs about 50 KB. Beyond it answers say `Connection: close`. */
  readonly keepAliveBudget: number;
  /** Open connections beyond which new ones are dropped. */
  readonly connections: number;
};

/** (Default: these) */
export const HTTP_LIMITS: HttpLimits = {
  bodyBytes: BODY_LIMIT_BYTES,
  bytesBody: LOG_TAIL_LIMIT_BYTES,
  bytesBodies: 16,
  bodyDepth: 32,
  headerBytes: 16 * 1024,
  handshakeTimeoutMs: 10_000,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 15_000,
  checkingIntervalMs: 2_000,
  stalledTimeoutMs: 65_000,
  keepAliveTimeoutMs: 75_000,
  keepAliveBudget: 10_000,
  connections: 20_000,
};
