import { randomUUID } from 'node:crypto';
import {
  encodeSignInLink,
  hashOf,
  makeSecret,
  type AddPersonRequest,
  type IssueSignInLinkRequest,
  type PersonAnswer,
  type PersonList,
  type RemovePersonRequest,
} from '@rollcall/wire';
import type { Context } from '../context.js';
import { EXIT, Failure } from '../failure.js';
import type { Plane } from '../plane/plane.js';
import { askYes } from '../session/ask.js';

/** `rollcall people [list]` */
export const listPeople = async ({ output, plane, surroundings }: Context): Promise<void> => {
  const list = await (await plane()).read<PersonList>('/v1/people', surroundings.signal);
  if (output.asJson) output.json(list);
  else
    output.table(
      ['ID', 'NAME', ''],
      list.people.map(({ id, name, removed }) => [id, name, removed ? 'removed' : '']),
    );
};

/** `rollcall people add NAME`: the link with which they sign in alone goes to stdout, once; the plane is told its hash. */
export const addPerson = async (name: string, context: Context): Promise<void> => {
  const secret = makeSecret('rcl');
  const request: AddPersonRequest = { commandId: randomUUID(), name, linkHash: hashOf(secret) };
  const { person } = await (await context.plane()).write<PersonAnswer>('POST', '/v1/people', request);
  await tellLink(person, secret, context);
};

/** `rollcall people link PERSON`: another link, for somebody by id or by exact name. */
export const linkPerson = async (wanted: string, context: Context): Promise<void> => {
  const plane = await context.plane();
  const found = await find(wanted, plane, context);
  const secret = makeSecret('rcl');
  const request: IssueSignInLinkRequest = { commandId: randomUUID(), linkHash: hashOf(secret) };
  const { person } = await plane.write<PersonAnswer>('POST', `/v1/people/${found.id}/sign-in-links`, request);
  await tellLink(person, secret, context);
};

/** `rollcall people remove PERSON`: for good, so it is confirmed. */
export const removePerson = async (
  wanted: string,
  options: { readonly yes?: boolean },
  context: Context,
): Promise<void> => {
  const { output, surroundings } = context;
  if (!options.yes && !surroundings.stdin.isTTY)
    throw new Failure('Removing somebody cannot be undone: confirm it with --yes.', EXIT.usage);
  const plane = await context.plane();
  const { id, name } = await find(wanted, plane, context);
  if (!options.yes) {
    output.note(`This ends the sessions, accounts and automation tokens of ${name} (${id}), for good.`);
    if (!(await askYes('Type "yes" to remove them: ', surroundings))) throw new Failure('Nobody was removed.');
  }
  const request: RemovePersonRequest = { commandId: randomUUID() };
  const answer = await plane.write<PersonAnswer>('DELETE', `/v1/people/${id}`, request);
  if (output.asJson) output.json(answer);
  else output.line(`${name} has no access any more.`);
};

/** Somebody by id, or by exact name among those who were not removed. */
const find = async (wanted: string, plane: Plane, { surroundings }: Context): Promise<PersonAnswer['person']> => {
  const { people } = await plane.read<PersonList>('/v1/people', surroundings.signal);
  const [found, ...others] = people.filter(({ id, name, removed }) => id === wanted || (name === wanted && !removed));
  if (!found) throw new Failure('There is no such person among those whom you added.', EXIT.notFound);
  if (others.length > 0) throw new Failure(`Several people are called "${wanted}"; name one by the id.`);
  return found;
};

const tellLink = async (person: PersonAnswer['person'], secret: string, context: Context): Promise<void> => {
  const { output, sessions } = context;
  const stored = await sessions.read();
  const { address } = await context.plane();
  const link = encodeSignInLink({ address, pins: stored?.pins ?? [], secret });
  if (output.asJson) return output.json({ person, link });
  output.note(`${person.name} signs in with this, once, within an hour: \`rollcall login\` asks for it.`);
  output.line(link);
};
