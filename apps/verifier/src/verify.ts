import pg from 'pg';
import type { Answer } from './answers.js';
import type { Finding, Invariant } from './finding.js';
import { answered } from './invariants/answered.js';
import { appliedOnce } from './invariants/applied.js';
import { deletedIsLast, dense, revisions, unique } from './invariants/queries.js';
import { folds } from './invariants/read-models.js';

/** What is judged, in this order. */
export const INVARIANTS: readonly Invariant[] = [answered, unique, dense, revisions, appliedOnce, folds, deletedIsLast];

/** What is to be judged. */
export type VerifyOptions = {
  /** Any role that may select from the record and the read models will do. */
  readonly connectionString: string;
  /** (Default: none, and I1 holds trivially) */
  readonly answers?: readonly Answer[];
  /** As the plane was told it. Seconds. (Default: 15) */
  readonly gapSeconds?: number;
};

/** The judgement on a record at one moment. */
export type Verdict = {
  readonly holds: boolean;
  /** The newest batch in the snapshot; 0 on an empty record. */
  readonly newestBatch: string;
  readonly findings: readonly (Finding & Pick<Invariant, 'id' | 'promise'>)[];
};

/**
 * Judges a record while it is being written: everything is read from one snapshot, except what is never changed again.
 * @throws Error when the database cannot be reached or lacks the tables.
 */
export const verify = async ({ connectionString, answers = [], gapSeconds = 15 }: VerifyOptions): Promise<Verdict> => {
  const client = new pg.Client({
    connectionString,
    application_name: 'rollcall-verify',
    connectionTimeoutMillis: 5_000,
  });
  await client.connect();
  const rows = async <Row extends object>(statement: string, values?: readonly unknown[]) =>
    (await client.query(statement, values && [...values])).rows as Row[];
  try {
    await rows(`set TimeZone = 'UTC'`);
    await rows('begin isolation level repeatable read read only');
    const [newest] = await rows<{ number: string }>('select coalesce(max(number), 0)::text as number from batch');
    const findings: Verdict['findings'][number][] = [];
    for (const { id, promise, judge } of INVARIANTS) {
      findings.push({ id, promise, ...(await judge({ rows, connectionString, answers, gapSeconds })) });
    }
    return {
      holds: findings.every(({ broken }) => broken.length === 0),
      newestBatch: newest?.number ?? '0',
      findings,
    };
  } finally {
    await client.end().catch(() => undefined);
  }
};
