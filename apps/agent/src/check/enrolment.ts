import type { Plane } from '../plane/plane.js';

/** A credential of this installation. */
export type Key = {
  /** `rcm_…` */
  readonly secret: string;
  readonly generation: number;
  /** Origin of the plane that it is for: it is never shown to another one. */
  readonly address: string;
};

/** Which row of the plane this installation is; display only. */
export type MachineRow = { readonly id: string; readonly name: string | null; readonly owner: string };

/** What an enrolled installation checks in with. */
export type Enrolment = {
  readonly plane: Plane;
  /** The one to use first; a second one is fallen back on (C04). */
  readonly keys: readonly Key[];
  /** The chain token of the newest answer, if it is known. */
  readonly chain: string | null;
  /** Milliseconds; what an answer last said, or the default. */
  readonly interval: number;
  readonly machine: MachineRow | null;
};

/** What of an answer outlives a restart. */
export type KeptAnswer = {
  /** The plane that answered. */
  readonly address: string;
  readonly machine: MachineRow;
  /** null: as they were. */
  readonly pins: readonly string[] | null;
  /** Milliseconds. */
  readonly interval: number;
};

/**
 * What is to be remembered over a restart. Nothing here may hold a check up (O13): calls return at once, the work is done behind them and
 * a disk that refuses it is reported, not waited for.
 */
export abstract class Notebook {
  abstract keepChain(chain: string): void;
  /** Stored like the credential: without them the next start could not prove the plane. */
  abstract keepAnswer(answer: KeptAnswer): void;
  abstract keepBoot(counter: number): void;
  /** This key has succeeded: it is the one from now on. */
  abstract keyConfirmed(key: Key): void;
  /** The plane said that this machine was deleted. Kept for `enrol`, which may then replace the credential. */
  abstract keyRevoked(key: Key): void;
}
