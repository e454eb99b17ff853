import type { Plane } from '../plane/plane.js';
import type { Key } from './enrolment.js';

/** What an answer to a check asked for, and who asked. */
export type Asked = {
  /** The stamp of a request for the tail of the log; null: nothing is asked for. */
  readonly logTail: string | null;
  readonly plane: Plane;
  /** The key that the check was accepted with. */
  readonly key: Key;
  /** The id of the machine that was asked: another enrolment is another machine. */
  readonly machine: string;
};
