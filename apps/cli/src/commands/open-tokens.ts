import { randomUUID } from 'node:crypto';
import type { OpenTokenList, WithdrawTokenRequest } from '@rollcall/wire';
import type { Context } from '../context.js';
import { EXIT, Failure } from '../failure.js';
import { clockTime } from '../output/relative-time.js';

/** `rollcall token list`: tokens, and credentials of machines to come, that nobody has used yet. */
export const listTokens = async ({ output, plane, surroundings }: Context): Promise<void> => {
  const list = await (await plane()).read<OpenTokenList>('/v1/enrolment-tokens', surroundings.signal);
  if (output.asJson) output.json(list);
  else if (list.tokens.length === 0) output.line('Nothing that you have made admits a machine now.');
  else
    output.table(
      ['ID', 'KIND', 'FOR', 'MADE', 'EXPIRES'],
      list.tokens.map(({ id, kind, name, node, issuedAt, expiresAt }) => [
        id,
        kind,
        node === null ? `a new node${name === null ? '' : ` "${name}"`}` : `the node of ${node.name ?? node.machine}`,
        clockTime(issuedAt),
        clockTime(expiresAt),
      ]),
    );
};

/** `rollcall token withdraw TOKEN`: by its id, or the first characters of it. */
export const withdrawToken = async (wanted: string, context: Context): Promise<void> => {
  const { output, plane, surroundings } = context;
  const at = await plane();
  const id = wanted.length === 36 ? wanted : idOf(wanted, await at.read('/v1/enrolment-tokens', surroundings.signal));
  const request: WithdrawTokenRequest = { commandId: randomUUID() };
  await at.write('DELETE', `/v1/enrolment-tokens/${id}`, request);
  if (output.asJson) output.json({ id, withdrawn: true });
  else output.line(`Nobody is admitted with ${id} any more.`);
};

const idOf = (wanted: string, { tokens }: OpenTokenList): string => {
  const [token, ...others] = tokens.filter(({ id }) => id.startsWith(wanted));
  if (token && others.length === 0) return token.id;
  if (token) throw new Failure(`Several tokens begin with ${wanted}.`, EXIT.failed);
  throw new Failure('There is no such token that could still be used.', EXIT.notFound);
};
