import type { NearEnd, SshTarget } from './ports.js';

/** What a resume needs of a session: where to dial, and what to forward. No secret is among it. */
export type ResumeMetadata = {
  readonly target: SshTarget;
  readonly near: NearEnd;
  /** The UNIX socket of the far agent. */
  readonly farSocketPath: string;
};

/** Where resume metadata is kept: on the operator's computer and for its owner only (O30). Calls come one at a time. */
export abstract class SessionMetadata {
  /** Replaces what is kept under this id. */
  abstract remember(id: string, metadata: ResumeMetadata): Promise<void>;

  /** What is kept under this id; null when nothing is. Rejects when it cannot be read or makes no sense. */
  abstract recall(id: string): Promise<ResumeMetadata | null>;

  /** Without effect when nothing is kept. */
  abstract forget(id: string): Promise<void>;
}
