/** A code about which nothing is known at present, and why, for a person at this machine. */
export type NotProbed = { readonly code: string; readonly why: string };

/** What is known about what keeps this machine from taking work; codes are sorted. */
export type Findings = {
  readonly blockers: readonly string[];
  readonly notProbed: readonly NotProbed[];
};

/** What keeps this machine from taking work. */
export abstract class Readiness {
  /** null as long as nothing has been probed, which the plane reads as "nothing new" (O25). Never waits (O13). */
  abstract current(): Findings | null;
  /** Calls back when the codes of `current` have changed; returns how to stop that. */
  abstract onChange(listener: () => void): () => void;
}
