import type { CheckPolicy, RotationPolicy } from '@rollcall/machine';

/** What this plane tells every machine alike. */
export class MachineTerms {
  constructor(
    readonly policy: CheckPolicy,
    /** Pins of the plane's CA key; empty where machines verify by their system's store. */
    readonly pins: readonly string[],
    /** (Default: no credential is too old) */
    readonly rotation: RotationPolicy = { afterDays: null, since: 0 },
    /** Where people type short codes; null where nobody has said under which name they reach the plane. */
    readonly verificationAddress: string | null = null,
  ) {}
}
