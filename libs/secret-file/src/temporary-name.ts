import { randomBytes } from 'node:crypto';

/** A name, in the same directory, for a file that is not finished: says whose it is, and meets no other. */
export const temporaryName = (name: string): string => `.${name}.${process.pid}.${randomBytes(6).toString('hex')}.tmp`;

/** Whether a name is one of ours for a file that was not finished. */
export const isTemporary = (name: string): boolean => /^\..+\.\d+\.[0-9a-f]{12}\.tmp$/.test(name);
