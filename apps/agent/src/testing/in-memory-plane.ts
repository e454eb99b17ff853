import type { CheckRequest, EnrolmentRequest, ProblemCode, RotationRequest } from '@rollcall/wire';
import { PROBLEM_MEDIA_TYPE, PROBLEMS } from '@rollcall/wire';
import { TransportError, type TransportFailure } from '@rollcall/pinned-https';
import { Plane, type PlaneAnswer } from '../plane/plane.js';

/** One request that reached the plane, and when by the test's clock. */
export type Received = { readonly at: number; readonly body: CheckRequest; readonly credential: string };

/** What the plane does with a check: answers, or leaves it to the signal (`null`: never answers). */
export type Behaviour = (check: Received) => PlaneAnswer | Promise<PlaneAnswer> | null;

/** The plane without a network. */
export class InMemoryPlane extends Plane {
  readonly received: Received[] = [];
  readonly expected: (readonly string[])[] = [];
  abandoned = 0;
  behave: Behaviour = () => accepted();
  readonly uploads: { readonly stamp: string; readonly text: string; readonly credential: string }[] = [];
  /** What it does with an upload; `null`: never answers. */
  behaveOnUpload: (stamp: string) => PlaneAnswer | Promise<PlaneAnswer> | null = (logTail) =>
    answered(200, JSON.stringify({ logTail }));
  readonly rotations: { readonly hash: string; readonly credential: string }[] = [];
  /** What it does with a hash that is registered. */
  behaveOnRotation: (hash: string) => PlaneAnswer | Promise<PlaneAnswer> = () => answered(200, '{"generation":2}');
  readonly #now: () => number;

  constructor(now: () => number) {
    super();
    this.#now = now;
  }

  /** Milliseconds between the requests that came. */
  get gaps(): number[] {
    return this.received.slice(1).map(({ at }, place) => at - (this.received[place]?.at ?? 0));
  }

  override async check(body: CheckRequest, credential: string, signal: AbortSignal): Promise<PlaneAnswer> {
    // As it would be on the wire: later changes to the object are not seen here.
    const check = { at: this.#now(), body: JSON.parse(JSON.stringify(body)) as CheckRequest, credential };
    this.received.push(check);
    const answer = this.behave(check);
    return answer ?? neverAnswers(signal);
  }

  override async uploadLogTail(
    { stamp, bytes }: { readonly stamp: string; readonly bytes: Uint8Array },
    credential: string,
    signal: AbortSignal,
  ): Promise<PlaneAnswer> {
    this.uploads.push({ stamp, text: Buffer.from(bytes).toString(), credential });
    return this.behaveOnUpload(stamp) ?? neverAnswers(signal);
  }

  override startRotation(request: RotationRequest, credential: string): Promise<PlaneAnswer> {
    this.rotations.push({ hash: request.credentialHash, credential });
    return Promise.resolve(this.behaveOnRotation(request.credentialHash));
  }

  override enrol(_request: EnrolmentRequest): Promise<PlaneAnswer> {
    return Promise.reject(new Error('This plane is for checks'));
  }

  override expect(pins: readonly string[]): void {
    this.expected.push(pins);
  }

  override abandonConnections(): void {
    this.abandoned += 1;
  }
}

const neverAnswers = (signal: AbortSignal): Promise<never> =>
  new Promise<never>((_, reject) => {
    const giveUp = () => reject(new TransportError('aborted', 'Given up'));
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
  });

export const PIN = `sha256/${'A'.repeat(43)}=`;

/** Any answer. */
export const answered = (
  status: number,
  body: string,
  mediaType = 'application/json',
  headers: Readonly<Record<string, readonly string[]>> = {},
  pin: string | null = PIN,
): PlaneAnswer => ({ status, body, mediaType, header: (name) => headers[name] ?? [], pin });

/** The plane took the check. */
export const accepted = (fields: Readonly<Record<string, unknown>> = {}): PlaneAnswer =>
  answered(
    200,
    JSON.stringify({
      machine: { id: 'machine-1', name: 'a-name', owner: 'person-1', generation: 1 },
      interval: 30,
      chain: 'epoch.1.mac',
      requests: { logTail: null, rotate: null },
      serverTime: '2026-01-01T00:00:00.000Z',
      ...fields,
    }),
  );

/** The plane refused it. */
export const refused = (
  code: ProblemCode,
  extra: Readonly<Record<string, unknown>> = {},
  headers: Readonly<Record<string, readonly string[]>> = {},
): PlaneAnswer => answered(PROBLEMS[code].status, JSON.stringify({ code, ...extra }), PROBLEM_MEDIA_TYPE, headers);

/** No answer came. */
export const lost = (code: TransportFailure = 'unreachable', message = 'No connection'): Promise<never> =>
  Promise.reject(new TransportError(code, message));
