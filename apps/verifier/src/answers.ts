/** What a caller was answered with success: a check by its `checkId`, any other command by its `commandId`. */
export type Answer = {
  readonly kind: 'check' | 'command';
  readonly id: string;
  /** The revision of the stream after the decision; null where the history does not say. */
  readonly revision: number | null;
  /** The batch that recorded it; null for an answer to a repetition. */
  readonly batch: string | null;
};

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Reads a history of answers, one JSON object per line: `checkId` or `commandId`, and optionally `revision` and `batch`.
 * @throws Error that names the line.
 */
export const readAnswers = (text: string): readonly Answer[] =>
  text.split('\n').flatMap((line, index) => (line.trim() === '' ? [] : [answerOf(line, index + 1)]));

const answerOf = (line: string, number: number): Answer => {
  const fields = fieldsOf(line, number);
  const { checkId, commandId, revision = null, batch = null } = fields;
  const id = checkId ?? commandId;
  if (typeof id !== 'string' || !UUID.test(id))
    throw new Error(`Answers, line ${number}: neither checkId nor commandId is a UUID`);
  if (revision !== null && !Number.isSafeInteger(revision))
    throw new Error(`Answers, line ${number}: revision is no number`);
  if (batch !== null && !isNumber(batch)) throw new Error(`Answers, line ${number}: batch is no number`);
  return {
    kind: checkId === undefined ? 'command' : 'check',
    id: id.toLowerCase(),
    revision: revision as number | null,
    batch: batch === null ? null : String(batch),
  };
};

const isNumber = (value: unknown): value is string | number =>
  (typeof value === 'string' || typeof value === 'number') && /^\d+$/.test(String(value));

const fieldsOf = (line: string, number: number): { readonly [field: string]: unknown } => {
  try {
    const parsed: unknown = JSON.parse(line);
    if (typeof parsed === 'object' && parsed !== null) return parsed as { readonly [field: string]: unknown };
  } catch {
    // Said below, like any other line that is no object.
  }
  throw new Error(`Answers, line ${number}: not a JSON object`);
};
