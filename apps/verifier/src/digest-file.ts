import { readFile, rename, writeFile } from 'node:fs/promises';

/** What a record was at some time: enough to tell later whether anything of it was changed. */
export type RecordDigest = {
  readonly epoch: string;
  /** The newest batch then. */
  readonly batch: bigint;
  /** SHA-256 of the canonical dump up to there, hex. */
  readonly digest: string;
};

const FORMAT = 'rollcall record digest 1';

/** Writes a digest; what stood there is replaced at once or not at all. */
export const saveDigest = async (file: string, { epoch, batch, digest }: RecordDigest): Promise<void> => {
  const text = `${JSON.stringify({ format: FORMAT, epoch, batch: batch.toString(), digest })}\n`;
  await writeFile(`${file}.new`, text);
  await rename(`${file}.new`, file);
};

/** @throws Error that names a file that cannot be read or holds no digest. */
export const readDigest = async (file: string): Promise<RecordDigest> => {
  const text = await readFile(file, 'utf8');
  try {
    const { format, epoch, batch, digest } = JSON.parse(text) as { readonly [field: string]: unknown };
    if (format === FORMAT && typeof epoch === 'string' && /^\d+$/.test(String(batch)) && isDigest(digest))
      return { epoch, batch: BigInt(String(batch)), digest };
  } catch {
    // Said below, like anything else that is no digest.
  }
  throw new Error(`${file} holds no digest of a record`);
};

const isDigest = (value: unknown): value is string => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);
