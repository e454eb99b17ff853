import { randomUUID } from 'node:crypto';
import {
  encodeEnrolmentToken,
  hashOf,
  makeSecret,
  type IssueTokenAnswer,
  type IssueTokenRequest,
} from '@rollcall/wire';
import type { Context } from '../context.js';
import { clockTime } from '../output/relative-time.js';

/**
 * `rollcall token issue [--name N] [--expires 15m]`: makes an enrolment token here and registers its hash. The token alone goes to
 * stdout, once (N20); the plane never sees its secret before a machine presents it.
 */
export const issueToken = async (
  options: { readonly name?: string; readonly expires: number },
  { output, plane }: Context,
): Promise<void> => {
  const secret = makeSecret('rce');
  const request: IssueTokenRequest = {
    commandId: randomUUID(),
    tokenHash: hashOf(secret),
    name: options.name ?? null,
    expiresIn: options.expires,
  };
  const { token, machineApi, pins } = await (
    await plane()
  ).write<IssueTokenAnswer>('POST', '/v1/enrolment-tokens', request);
  const text = encodeEnrolmentToken({ address: machineApi, pins, secret });
  if (output.asJson) return output.json({ token: text, id: token.id, name: token.name, expiresAt: token.expiresAt });
  output.note(
    `This admits one machine until ${clockTime(token.expiresAt)}${token.name ? `, as "${token.name}"` : ''}. It is shown once.`,
  );
  output.note('Give it to `rollcall-agent enrol` on standard input.');
  output.line(text);
};
