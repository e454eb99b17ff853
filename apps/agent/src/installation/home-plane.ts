import { readPrivateFile, writePrivateFile } from '@rollcall/secret-file';
import { isPin } from '@rollcall/wire';
import type { MachineRow } from '../check/enrolment.js';

/** The plane that this installation belongs to. */
export type HomePlane = {
  readonly address: string;
  readonly pins: readonly string[];
  readonly machine: MachineRow;
  /** Milliseconds, as an answer last told it. */
  readonly interval: number;
  /** SHA-256 of the enrolment token that led here, so that its repetition is known as one. */
  readonly enrolledWith: string;
};

/** @returns null when there is none or it is no longer readable */
export const readHomePlane = async (path: string): Promise<HomePlane | null> => {
  const content = await readPrivateFile(path);
  if (content === null) return null;
  let value: unknown;
  try {
    value = JSON.parse(content.toString('utf8'));
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null) return null;
  const { address, pins, machine, interval, enrolledWith } = value as Partial<HomePlane>;
  const isWhole =
    typeof address === 'string' &&
    URL.canParse(address) &&
    Array.isArray(pins) &&
    pins.every(isPin) &&
    typeof machine?.id === 'string' &&
    typeof interval === 'number' &&
    typeof enrolledWith === 'string';
  return isWhole ? { address, pins, machine, interval, enrolledWith } : null;
};

/** Durable, like the credential that belongs to it. */
export const writeHomePlane = (path: string, home: HomePlane): Promise<void> =>
  writePrivateFile(path, `${JSON.stringify(home, undefined, 2)}\n`);
