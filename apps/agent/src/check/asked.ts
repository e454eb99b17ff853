import type { Plane } from '../plane/plane.js';
import type { Key } from './enrolment.js';

/** What an answer to a check asked for, and who asked. */
export type Asked = {
  /** The stamp of a request for the tail of the log; null: nothing is asked for. */
  readonly logTail: string | null;
  /** The stamp of a request for a newer credential; null: nobody asks for one. */
  readonly rotate: string | null;
  /** A newer key is kept that has not succeeded: its rotation was cut off somewhere. */
  readonly isUnfinished: boolean;
  readonly plane: Plane;
  /** The key that the check was accepted with. */
  readonly key: Key;
  /** The id of the machine that was asked: another enrolment is another machine. */
  readonly machine: string;
};
