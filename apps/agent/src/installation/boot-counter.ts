import { readPrivateFile, writePrivateFile } from '@rollcall/secret-file';

const LIMIT = 2 ** 31 - 1;

/** The number of this start. What cannot be read counts as none: the plane tells a start that comes too low which number is next. */
export const nextBoot = async (path: string): Promise<number> => {
  const text = await readPrivateFile(path, 64).catch(() => null);
  const last = Number(text?.toString('utf8').trim());
  return Number.isSafeInteger(last) && last >= 0 && last < LIMIT ? last + 1 : 1;
};

/** Durable: two starts must not take one number because the power went. */
export const keepBoot = (path: string, counter: number): Promise<void> => writePrivateFile(path, `${counter}\n`);
