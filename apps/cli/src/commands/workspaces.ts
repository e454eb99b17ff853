import { randomUUID } from 'node:crypto';
import type { LeaveWorkspaceRequest, WorkspaceAnswer, WorkspaceList, WorkspaceView } from '@rollcall/wire';
import type { Context } from '../context.js';

/** `rollcall workspaces [list]` */
export const listWorkspaces = async ({ output, plane, surroundings }: Context): Promise<void> => {
  const list = await (await plane()).read<WorkspaceList>('/v1/workspaces', surroundings.signal);
  if (output.asJson) output.json(list);
  else if (list.workspaces.length === 0) output.line('You belong to no workspace.');
  else
    output.table(
      ['ID', 'NAME', 'YOURS'],
      list.workspaces.map(({ id, name, isOwner }) => [id, name, isOwner ? 'yes' : 'member']),
    );
};

/** `rollcall workspaces create NAME` */
export const createWorkspace = async (name: string, { output, plane }: Context): Promise<void> => {
  const answer = await (
    await plane()
  ).write<WorkspaceAnswer>('POST', '/v1/workspaces', { commandId: randomUUID(), name });
  if (output.asJson) output.json(answer);
  else output.line(`${answer.workspace.name} is there: ${answer.workspace.id}`);
};

/** `rollcall workspaces show WORKSPACE`: what is bound to it, and who sees that (O29). */
export const showWorkspace = async (id: string, { output, plane, surroundings }: Context): Promise<void> => {
  const view = await (await plane()).read<WorkspaceView>(pathOf(id), surroundings.signal);
  if (output.asJson) return output.json(view);
  const members = view.members.map(({ id: person, name }) => `${name} (${person})`).join(', ');
  output.line(`${view.workspace.name} of ${view.owner.name}, with ${members || 'no member'}`);
  if (view.bindings.length > 0)
    output.table(
      ['DIRECTORY', 'MACHINE', 'PRESENCE'],
      view.bindings.map(({ directory, machine }) => [
        directory,
        machine ? (machine.name ?? machine.id) : '(none)',
        machine?.presence ?? '',
      ]),
    );
};

/** `rollcall workspaces add-member|remove-member WORKSPACE PERSON` */
export const changeMember =
  (method: 'PUT' | 'DELETE') =>
  (id: string, person: string, context: Context): Promise<void> =>
    change(method, `${pathOf(id)}/members`, { person }, context);

/** `rollcall workspaces leave WORKSPACE` */
export const leaveWorkspace = async (id: string, { output, plane }: Context): Promise<void> => {
  const request: LeaveWorkspaceRequest = { commandId: randomUUID() };
  await (await plane()).write('DELETE', `${pathOf(id)}/membership`, request);
  if (output.asJson) output.json({ left: id });
  else output.line('You belong to it no longer.');
};

/** `rollcall workspaces bind|unbind WORKSPACE MACHINE DIRECTORY` */
export const changeBinding =
  (method: 'PUT' | 'DELETE') =>
  (id: string, machine: string, directory: string, context: Context): Promise<void> =>
    change(method, `${pathOf(id)}/bindings`, { machine, directory }, context);

const pathOf = (id: string): string => `/v1/workspaces/${encodeURIComponent(id)}`;

const change = async (
  method: 'PUT' | 'DELETE',
  path: string,
  body: object,
  { output, plane }: Context,
): Promise<void> => {
  const answer = await (await plane()).write<WorkspaceAnswer>(method, path, { commandId: randomUUID(), ...body });
  if (output.asJson) output.json(answer);
  else output.line(`${answer.workspace.name} is as you said.`);
};
