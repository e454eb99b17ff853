import { randomUUID } from 'node:crypto';
import {
  encodeEnrolmentToken,
  hashOf,
  makeSecret,
  type IssueTokenAnswer,
  type IssueTokenRequest,
} from '@rollcall/wire';
import type { Context } from '../context.js';
import { EXIT, Failure } from '../failure.js';
import { clockTime, relativeTime } from '../output/relative-time.js';
import { askYes } from '../session/ask.js';
import { find } from './machines.js';

/** For whom a token is, and how long it can be used (seconds). */
export type TokenOptions = {
  readonly name?: string;
  /** A machine of the node that gets its next one; without it, a node not seen before. */
  readonly node?: string;
  readonly expires: number;
  /** Deletes the node's machine without asking. */
  readonly yes?: boolean;
};

/**
 * `rollcall token issue [--new | --node NAME] [--name N] [--expires 15m] [--yes]`: makes an enrolment token here and registers its hash. The
 * token alone goes to stdout, once (N20); the plane never sees its secret before a machine presents it. With `--node` the node's machine is
 * deleted in the same append, so it asks first (N19).
 */
export const issueToken = async (options: TokenOptions, context: Context): Promise<void> => {
  const { output } = context;
  const plane = await context.plane();
  const node = options.node === undefined ? null : await agreedNode(options.node, options.yes ?? false, context);
  const secret = makeSecret('rce');
  const request: IssueTokenRequest = {
    commandId: randomUUID(),
    tokenHash: hashOf(secret),
    name: options.name ?? null,
    node,
    expiresIn: options.expires,
  };
  const { token, replaces, machineApi, pins } = await plane.write<IssueTokenAnswer>(
    'POST',
    '/v1/enrolment-tokens',
    request,
  );
  const text = encodeEnrolmentToken({ address: machineApi, pins, secret });
  if (output.asJson)
    return output.json({ token: text, id: token.id, name: token.name, expiresAt: token.expiresAt, replaces });
  if (replaces !== null) output.note(`Machine ${replaces} is deleted; its node keeps its name, labels and promises.`);
  output.note(
    `This admits one machine until ${clockTime(token.expiresAt)}${token.name ? `, as "${token.name}"` : ''}. It is shown once.`,
  );
  output.note('Give it to `rollcall-agent enrol` on standard input.');
  output.line(text);
};

/** The id of a machine of the node, once a person has agreed to the deletion of the one that lives, if there is one. */
export const agreedNode = async (node: string, yes: boolean, context: Context): Promise<string> => {
  const { output, surroundings } = context;
  const { machine, asOf } = await find(node, await context.plane(), surroundings.signal);
  if (machine.lifecycle === 'deleted' || yes) return machine.id;
  if (!surroundings.stdin.isTTY)
    throw new Failure('The machine of the node is deleted with it, for good: confirm that with --yes.', EXIT.usage);
  output.note(
    `This deletes ${machine.name ?? machine.hostname ?? 'the unnamed machine'} (${machine.id}), ${machine.sentence}; ` +
      `last check: ${relativeTime(machine.lastCheckAt, asOf)}. ` +
      'Its credential never works again; whoever joins with this takes its place.',
  );
  if (!(await askYes('Type "yes" to delete it: ', surroundings)))
    throw new Failure('Nothing was deleted, and nothing made.');
  return machine.id;
};
