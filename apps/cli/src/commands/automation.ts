import { randomUUID } from 'node:crypto';
import type { Scope } from '@rollcall/authorisation';
import {
  hashOf,
  makeSecret,
  type AutomationTokenAnswer,
  type AutomationTokenList,
  type IssueAutomationTokenRequest,
  type RevokeAutomationTokenRequest,
} from '@rollcall/wire';
import type { Context } from '../context.js';
import { EXIT, Failure } from '../failure.js';

/** How `automation issue` was called. */
export type NewAutomationToken = {
  readonly name: string;
  readonly scope: readonly Scope[];
  /** Seconds. */
  readonly expires: number;
};

/**
 * `rollcall automation issue --name N --scope S… --expires 30d`: makes a token here and registers its hash. The token alone goes to stdout,
 * once; the plane sees it when a program presents it.
 */
export const issueAutomationToken = async (wanted: NewAutomationToken, { output, plane }: Context): Promise<void> => {
  const secret = makeSecret('rca');
  const request: IssueAutomationTokenRequest = {
    commandId: randomUUID(),
    tokenHash: hashOf(secret),
    name: wanted.name,
    scopes: wanted.scope,
    expiresIn: wanted.expires,
  };
  const { token } = await (await plane()).write<AutomationTokenAnswer>('POST', '/v1/automation-tokens', request);
  if (output.asJson) return output.json({ token: secret, ...token });
  output.note(`"${token.name}" may ${token.scopes.join(', ')} with this until ${token.expiresAt}. It is shown once.`);
  output.note('No token of this kind admits or deletes a machine.');
  output.line(secret);
};

/** `rollcall automation [list]` */
export const listAutomationTokens = async ({ output, plane, surroundings }: Context): Promise<void> => {
  const list = await (await plane()).read<AutomationTokenList>('/v1/automation-tokens', surroundings.signal);
  if (output.asJson) output.json(list);
  else if (list.tokens.length === 0) output.line('No program acts for you.');
  else
    output.table(
      ['ID', 'NAME', 'SCOPES', 'EXPIRES'],
      list.tokens.map(({ id, name, scopes, expiresAt }) => [id, name, scopes.join(' '), expiresAt]),
    );
};

/** `rollcall automation revoke TOKEN`: by its id, or the first characters of it. */
export const revokeAutomationToken = async (wanted: string, context: Context): Promise<void> => {
  const { output, plane, surroundings } = context;
  const at = await plane();
  const { tokens } = await at.read<AutomationTokenList>('/v1/automation-tokens', surroundings.signal);
  const [token, ...others] = tokens.filter(({ id }) => id.startsWith(wanted));
  if (!token || others.length > 0)
    throw new Failure(
      token ? `Several automation tokens begin with ${wanted}.` : 'There is no such automation token.',
      token ? EXIT.failed : EXIT.notFound,
    );
  const request: RevokeAutomationTokenRequest = { commandId: randomUUID() };
  await at.write('DELETE', `/v1/automation-tokens/${token.id}`, request);
  if (output.asJson) output.json({ token, revoked: true });
  else output.line(`"${token.name}" can do nothing more with this token.`);
};
