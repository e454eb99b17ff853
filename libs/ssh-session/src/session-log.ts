/** What made a session's transport lost: a verdict of its watchdog, or a remote command of a disposal that ran out of time. */
export type LossCause = 'silence' | 'probe-failed' | 'link-ended' | 'command-timeout';

/** A transport that was lost and torn down. */
export type TransportLoss = {
  /** The session's id. */
  readonly session: string;
  /** As the person knows it; this log stays on this computer (O30). */
  readonly remoteHost: string;
  readonly cause: LossCause;
  /** Milliseconds without an answer, as the verdict had it. */
  readonly silence: number;
  /** What could not be released, with the reason; empty when everything was. */
  readonly failedCloses: { readonly forward?: string; readonly link?: string };
};

/** The log of this computer, for its owner. It must not throw. */
export abstract class SessionLog {
  abstract warn(sentence: string, loss: TransportLoss): void;
  abstract debug(sentence: string, about: { readonly session: string }): void;
}
