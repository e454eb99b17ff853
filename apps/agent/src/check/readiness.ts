/** What keeps this machine from taking work. */
export abstract class Readiness {
  /** Blocker codes; null as long as nothing has been probed, which the plane reads as "nothing new" (O25). Never waits (O13). */
  abstract current(): readonly string[] | null;
  /** Calls back when `current` has changed; returns how to stop that. */
  abstract onChange(listener: () => void): () => void;
}

/** As long as there are no probes. */
export class NotProbed extends Readiness {
  override current(): null {
    return null;
  }

  override onChange(): () => void {
    return () => undefined;
  }
}
