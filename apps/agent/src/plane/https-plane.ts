import { PinnedClient } from '@rollcall/pinned-https';
import type {
  CheckRequest,
  CodeRequest,
  EnrolmentRequest,
  RedeemCodeRequest,
  RedeemPreadmissionRequest,
  RotationRequest,
} from '@rollcall/wire';
import { Plane, type PlaneAnswer } from './plane.js';

/** The plane over pinned HTTPS. */
export class HttpsPlane extends Plane {
  readonly #client: PinnedClient;

  constructor(address: string, pins: readonly string[]) {
    super();
    this.#client = new PinnedClient({ origin: address, pins });
  }

  override enrol(request: EnrolmentRequest, signal: AbortSignal): Promise<PlaneAnswer> {
    return this.#post('/v1/enrolments', request, signal, {});
  }

  redeemPreadmission(
    request: RedeemPreadmissionRequest,
    credential: string,
    signal: AbortSignal,
  ): Promise<PlaneAnswer> {
    return this.#post('/v1/preadmissions/redeem', request, signal, { authorization: `Bearer ${credential}` });
  }

  requestCode(request: CodeRequest, signal: AbortSignal): Promise<PlaneAnswer> {
    return this.#post('/v1/codes', request, signal, {});
  }

  redeemCode(request: RedeemCodeRequest, signal: AbortSignal): Promise<PlaneAnswer> {
    return this.#post('/v1/codes/redeem', request, signal, {});
  }

  override check(request: CheckRequest, credential: string, signal: AbortSignal): Promise<PlaneAnswer> {
    return this.#post('/v1/check', request, signal, { authorization: `Bearer ${credential}` });
  }

  override startRotation(request: RotationRequest, credential: string, signal: AbortSignal): Promise<PlaneAnswer> {
    return this.#post('/v1/credential/rotations', request, signal, { authorization: `Bearer ${credential}` });
  }

  override uploadLogTail(
    { stamp, bytes }: { readonly stamp: string; readonly bytes: Uint8Array },
    credential: string,
    signal: AbortSignal,
  ): Promise<PlaneAnswer> {
    return this.#client.request({
      method: 'PUT',
      path: `/v1/log-tails/${encodeURIComponent(stamp)}`,
      headers: {
        authorization: `Bearer ${credential}`,
        'content-type': 'application/octet-stream',
        accept: 'application/json',
      },
      body: bytes,
      signal,
    });
  }

  override expect(pins: readonly string[]): void {
    this.#client.expect(pins);
  }

  override abandonConnections(): void {
    this.#client.abandonConnections();
  }

  #post(
    path: string,
    body: unknown,
    signal: AbortSignal,
    headers: Readonly<Record<string, string>>,
  ): Promise<PlaneAnswer> {
    return this.#client.request({
      method: 'POST',
      path,
      headers: { ...headers, 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify(body),
      signal,
    });
  }
}
