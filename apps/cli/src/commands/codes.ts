import { randomUUID } from 'node:crypto';
import type {
  AnsweredCode,
  ApproveCodeRequest,
  LookUpCodeRequest,
  RefuseCodeRequest,
  WaitingCode,
} from '@rollcall/wire';
import type { Context } from '../context.js';
import { EXIT, Failure } from '../failure.js';
import { clockTime } from '../output/relative-time.js';
import type { Plane } from '../plane/plane.js';
import { askYes } from '../session/ask.js';
import { agreedNode } from './issue-token.js';

/** `rollcall codes show CODE`: what the installation that shows it claims to be. */
export const showCode = async (code: string, { output, plane }: Context): Promise<void> => {
  const waiting = await lookUp(code, await plane());
  if (output.asJson) return output.json(waiting);
  for (const line of described(waiting)) output.line(line);
};

/**
 * `rollcall codes approve CODE [--new | --node MACHINE] [--name NAME] [--yes]`: shows what it claims to be, asks, and lets it in as a machine of
 * yours (O12). With `--node` the node's machine is deleted in the same append (N19).
 */
export const approveCode = async (
  code: string,
  options: { readonly name?: string; readonly node?: string; readonly yes?: boolean },
  context: Context,
): Promise<void> => {
  const { output, surroundings } = context;
  if (!options.yes && !surroundings.stdin.isTTY)
    throw new Failure('This lets a machine in: confirm it with --yes.', EXIT.usage);
  const plane = await context.plane();
  // Before anybody confirms: a code that is over is refused here (C08).
  const waiting = await lookUp(code, plane);
  if (!options.yes) {
    for (const line of described(waiting)) output.note(line);
    if (!(await askYes('Type "yes" if it is the one in front of you: ', surroundings)))
      throw new Failure('Nobody was let in.');
  }
  const node = options.node === undefined ? null : await agreedNode(options.node, options.yes ?? false, context);
  const request: ApproveCodeRequest = { commandId: randomUUID(), code, name: options.name ?? null, node };
  const answered = await plane.write<AnsweredCode>('POST', '/v1/codes/approve', request);
  if (output.asJson) output.json(answered);
  else {
    if (answered.replaces !== null)
      output.note(`Machine ${answered.replaces} is deleted; its node keeps its name, labels and promises.`);
    output.line(`${answered.code} is approved: the installation joins when it asks next, within some seconds.`);
  }
};

/** `rollcall codes refuse CODE` */
export const refuseCode = async (code: string, { output, plane }: Context): Promise<void> => {
  const request: RefuseCodeRequest = { commandId: randomUUID(), code };
  const answered = await (await plane()).write<AnsweredCode>('POST', '/v1/codes/refuse', request);
  if (output.asJson) output.json(answered);
  else output.line(`${answered.code} is refused: nobody joins with it.`);
};

const lookUp = (code: string, plane: Plane): Promise<WaitingCode> =>
  plane.write<WaitingCode>('POST', '/v1/codes/look-up', { code } satisfies LookUpCodeRequest);

/** Whoever shows the code chose these words: they are quoted, and marked as theirs. */
const described = ({ code, expiresAt, claims }: WaitingCode): readonly string[] => [
  `${code} waits for an answer until ${clockTime(expiresAt)}.`,
  'It says of itself, which proves nothing:',
  ...Object.entries({
    hostname: claims.hostname,
    agent: claims.agentVersion,
    platform: claims.platform,
    architecture: claims.arch,
  }).map(([what, said]) => `  ${what}: ${said === null ? '(nothing)' : JSON.stringify(said)}`),
];
