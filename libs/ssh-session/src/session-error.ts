import type { LossCause } from './session-log.js';

/**
 * Why a session cannot be had, or not be reset: a closed list.
 *
 * - `transport-lost`: its connection was declared lost, or does not answer. Stop it and resume it.
 * - `plane-unreachable`: a reset found that the far side does not reach the plane. Nothing was changed.
 * - `far-stop-failed`: a reset could not stop the far agent, although the connection held.
 * - `unknown-session`: neither a session nor anything to resume it by has this id.
 * - `session-ended`: it was stopped or reset while it was being opened.
 * - `bad-session-id`: not 1 to 64 letters, digits, dots, dashes and underscores that begin with a letter or digit.
 * - `metadata-unreadable`, `metadata-unwritable`: what a later resume needs cannot be read or kept.
 * - `host-closed`: the session host was closed.
 */
export type SshSessionErrorCode =
  | 'transport-lost'
  | 'plane-unreachable'
  | 'far-stop-failed'
  | 'unknown-session'
  | 'session-ended'
  | 'bad-session-id'
  | 'metadata-unreadable'
  | 'metadata-unwritable'
  | 'host-closed';

/** What a session host answers with when it cannot do what was asked. Whoever reads it acts on the code, never on the text. */
export class SshSessionError extends Error {
  override readonly name = 'SshSessionError';

  constructor(
    readonly code: SshSessionErrorCode,
    sentence: string,
    options?: ErrorOptions,
  ) {
    super(sentence, options);
  }
}

/** The error of whoever wants something of a session whose transport was declared lost, ended before it was watched, or does not answer. */
export const transportLost = (id: string, cause: LossCause | 'no-answer', options?: ErrorOptions): SshSessionError =>
  new SshSessionError(
    'transport-lost',
    `The connection of the SSH session ${id} is lost (${cause}); stop the session and resume it`,
    options,
  );
