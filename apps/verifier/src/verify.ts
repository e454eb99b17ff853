import { FRESH_SECONDS } from '@rollcall/authorisation';
import type { Answer } from './answers.js';
import { connect } from './database-client.js';
import type { RecordDigest } from './digest-file.js';
import type { Finding, Invariant } from './finding.js';
import { answered } from './invariants/answered.js';
import { appliedOnce } from './invariants/applied.js';
import { onlyAdded } from './invariants/earlier.js';
import { generations } from './invariants/generations.js';
import { deletedIsLast, dense, personsOnly, revisions, unique } from './invariants/queries.js';
import { silences } from './invariants/silences.js';
import { folds } from './invariants/read-models.js';
import { digestsAt } from './record-digest.js';

/** What is judged, in this order. */
export const INVARIANTS: readonly Invariant[] = [
  answered,
  unique,
  dense,
  revisions,
  appliedOnce,
  folds,
  generations,
  deletedIsLast,
  personsOnly,
  silences,
  onlyAdded,
];

/** What is to be judged. */
export type VerifyOptions = {
  /** Any role that may select from the record and the read models will do. */
  readonly connectionString: string;
  /** (Default: none, and I1 holds trivially) */
  readonly answers?: readonly Answer[];
  /** What the record was at earlier times. (Default: none, and I5 is judged for the time of this run only) */
  readonly earlier?: readonly RecordDigest[];
  /** As the plane was told it. Seconds. (Default: 15) */
  readonly gapSeconds?: number;
  /** As the plane was told it. Seconds. (Default: 900) */
  readonly freshSeconds?: number;
};

/** The judgement on a record at one moment. */
export type Verdict = {
  readonly holds: boolean;
  /** The newest batch in the snapshot; 0 on an empty record. */
  readonly newestBatch: string;
  /** What the record is, for `earlier` of a later run. */
  readonly digest: RecordDigest;
  readonly findings: readonly (Finding & Pick<Invariant, 'id' | 'promise'>)[];
};

/**
 * Judges a record while it is being written: everything is read from one snapshot, except what is never changed again.
 * @throws Error when the database cannot be reached or lacks the tables.
 */
export const verify = async ({
  connectionString,
  answers = [],
  earlier = [],
  gapSeconds = 15,
  freshSeconds = FRESH_SECONDS,
}: VerifyOptions): Promise<Verdict> => {
  const { rows, close } = await connect(connectionString);
  try {
    await rows('begin isolation level repeatable read read only');
    const [newest] = await rows<{ number: string }>('select coalesce(max(number), 0)::text as number from batch');
    const [record] = await rows<{ epoch: string }>('select epoch::text as epoch from record_epoch');
    const batch = BigInt(newest?.number ?? 0);
    const digests = await digestsAt(rows, [batch, ...earlier.map((each) => each.batch).filter((each) => each < batch)]);
    const now = { epoch: record?.epoch ?? '', batch, digest: digests.get(batch) ?? '' };
    const findings: Verdict['findings'][number][] = [];
    for (const { id, promise, judge } of INVARIANTS) {
      const subject = { rows, connectionString, now, earlier, digests, answers, gapSeconds, freshSeconds };
      findings.push({ id, promise, ...(await judge(subject)) });
    }
    return {
      holds: findings.every(({ broken }) => broken.length === 0),
      newestBatch: String(batch),
      digest: now,
      findings: findings.sort((a, b) => a.id.localeCompare(b.id, 'en', { numeric: true })),
    };
  } finally {
    await close();
  }
};
