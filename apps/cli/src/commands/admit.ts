import { randomUUID } from 'node:crypto';
import { createPrivateFile, removePrivateFile, writePrivateFile } from '@rollcall/secret-file';
import { encodeEnrolmentToken, hashOf, makeSecret, type PreadmitAnswer, type PreadmitRequest } from '@rollcall/wire';
import type { Context } from '../context.js';
import { EXIT, Failure } from '../failure.js';
import { clockTime } from '../output/relative-time.js';
import { agreedNode, type TokenOptions } from './issue-token.js';

/** As for a token, and where the credential goes: a file that is made for it; without one, standard output. */
export type AdmitOptions = TokenOptions & { readonly out?: string };

/**
 * `rollcall admit [--new | --node NAME] [--name N] [--expires 15m] [--out FILE] [--yes]`: makes the credential of a machine to come here, registers
 * its hash, and hands it out once for `rollcall-agent enrol` on the other machine, together with where the plane is and how it is known. So
 * nothing but the machine itself presents it to anybody, and nobody there has to approve anything (O3).
 */
export const admit = async (options: AdmitOptions, context: Context): Promise<void> => {
  const { output } = context;
  const plane = await context.plane();
  const node = options.node === undefined ? null : await agreedNode(options.node, options.yes ?? false, context);
  // Before anything is recorded, because a node's machine is deleted by it.
  if (options.out !== undefined) await reserve(options.out);
  const secret = makeSecret('rcm');
  const request: PreadmitRequest = {
    commandId: randomUUID(),
    credentialHash: hashOf(secret),
    name: options.name ?? null,
    node,
    expiresIn: options.expires,
  };
  const answer = await plane.write<PreadmitAnswer>('POST', '/v1/preadmissions', request).catch(async (failure) => {
    if (options.out !== undefined) await removePrivateFile(options.out);
    throw failure;
  });
  const { preadmission, replaces, machineApi, pins } = answer;
  const text = encodeEnrolmentToken({ address: machineApi, pins, secret });
  if (options.out !== undefined) await writePrivateFile(options.out, `${text}\n`);
  if (output.asJson)
    return output.json({ ...preadmission, replaces, ...(options.out ? { file: options.out } : { credential: text }) });
  if (replaces !== null) output.note(`Machine ${replaces} is deleted; its node keeps its name, labels and promises.`);
  const { name, expiresAt } = preadmission;
  output.note(`This admits one machine until ${clockTime(expiresAt)}${name ? `, as "${name}"` : ''}.`);
  output.note('Give it to `rollcall-agent enrol` on standard input, there and only there.');
  if (options.out === undefined) output.line(text);
};

/** Makes the file, so that nothing is in the way later; empty until the plane has answered. */
const reserve = async (path: string): Promise<void> => {
  const isMade = await createPrivateFile(path, '').catch((cause: NodeJS.ErrnoException) => {
    throw new Failure(`${path} cannot be made (${cause.code ?? cause.message}).`, EXIT.failed, { cause });
  });
  if (!isMade) throw new Failure(`There is something at ${path} already; it is left as it is.`);
};
