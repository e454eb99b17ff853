import { connect } from '../database-client.js';
import type { RecordDigest } from '../digest-file.js';
import type { Finding, Invariant, Subject } from '../finding.js';
import { digestsAt } from '../record-digest.js';

/** I5: what was recorded once stays as it is. Judged last, so that a change while the others were judged is found too. */
export const onlyAdded: Invariant = {
  id: 'I5',
  promise: 'any earlier dump of the record is a byte prefix of any later one',
  judge: async (subject): Promise<Finding> => ({
    examined: 1 + subject.earlier.length,
    broken: [
      ...subject.earlier.flatMap((earlier) => complaint(subject, earlier)),
      ...(await changedMeanwhile(subject)),
    ],
  }),
};

const complaint = ({ now, digests }: Subject, { epoch, batch, digest }: RecordDigest): readonly string[] => {
  const restored = epoch === now.epoch ? '' : '; the record began a new epoch in between, as after a restore';
  if (batch > now.batch)
    return [`the record ends at batch ${now.batch}, and once went on to batch ${batch}${restored}`];
  return digests.get(batch) === digest
    ? []
    : [`the record up to batch ${batch} is not what it was when its digest was taken${restored}`];
};

/** The snapshot that everything is judged on is the earlier dump, and what the database says now is the later one. */
const changedMeanwhile = async ({ connectionString, now }: Subject): Promise<readonly string[]> => {
  const { rows, close } = await connect(connectionString);
  try {
    const digest = (await digestsAt(rows, [now.batch])).get(now.batch);
    return digest === now.digest ? [] : [`the record up to batch ${now.batch} has changed while it was judged`];
  } finally {
    await close();
  }
};
