import type { Answer } from './answers.js';
import type { RecordDigest } from './digest-file.js';

/** What an invariant came to. */
export type Finding = {
  /** How many things were looked at: rows, streams, answers. */
  readonly examined: number;
  /** What does not hold, one sentence each; empty when the invariant holds. */
  readonly broken: readonly string[];
};

/** How one invariant is judged. */
export type Invariant = {
  /** `I3` */
  readonly id: string;
  /** The promise in one sentence. */
  readonly promise: string;
  /** @throws whatever the database says; that is a fault of the check, not of the record. */
  judge(subject: Subject): Promise<Finding>;
};

/** The record at one moment. */
export type Subject = {
  /** Runs one statement in the snapshot that all invariants share. Big numbers come as text. */
  readonly rows: <Row extends object>(statement: string, values?: readonly unknown[]) => Promise<Row[]>;
  readonly connectionString: string;
  /** What the record is in this snapshot. */
  readonly now: RecordDigest;
  /** What it was before; empty where nobody kept that. */
  readonly earlier: readonly RecordDigest[];
  /** The digests of this snapshot up to the batches of `earlier`, as far as it has them. */
  readonly digests: ReadonlyMap<bigint, string>;
  /** What callers were answered; empty where no history was given. */
  readonly answers: readonly Answer[];
  /** Two neighbouring ears further apart than this many seconds have a gap between them. */
  readonly gapSeconds: number;
  /** For how many seconds after signing in a person may admit a machine. */
  readonly freshSeconds: number;
};
