import type { CheckRequest, EnrolmentRequest, RotationRequest } from '@rollcall/wire';

/** An answer of whoever answered: the plane, something in front of it, or a portal. */
export type PlaneAnswer = {
  readonly status: number;
  /** Lower case, without parameters. */
  readonly mediaType: string;
  /** Every occurrence of a header, by its lower-case name. */
  header(name: string): readonly string[];
  readonly body: string;
  /** The pin that proved the other side; null when the system's store did. */
  readonly pin: string | null;
};

/**
 * The plane, as an agent reaches it. Calls are repeatable and have no deadline but their signal.
 *
 * @throws TransportError (of any call) when no answer came
 */
export abstract class Plane {
  abstract enrol(request: EnrolmentRequest, signal: AbortSignal): Promise<PlaneAnswer>;
  abstract check(request: CheckRequest, credential: string, signal: AbortSignal): Promise<PlaneAnswer>;
  /** Registers the hash of the next credential, with the current one (O19). */
  abstract startRotation(request: RotationRequest, credential: string, signal: AbortSignal): Promise<PlaneAnswer>;
  /** Brings the tail of the log that was asked for under this stamp. */
  abstract uploadLogTail(
    upload: { readonly stamp: string; readonly bytes: Uint8Array },
    credential: string,
    signal: AbortSignal,
  ): Promise<PlaneAnswer>;
  /** The plane's authority keys from now on. */
  abstract expect(pins: readonly string[]): void;
  /** Connections that are up lead nowhere any more. */
  abstract abandonConnections(): void;
}
