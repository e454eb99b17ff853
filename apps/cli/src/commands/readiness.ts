import type { BlockerList, Readiness } from '@rollcall/wire';
import type { Context } from '../context.js';
import { showBlockers, showEpisodes } from '../output/readiness-view.js';
import { pathOf } from './machines.js';

/** `rollcall blockers [--all]`: what stands now on the machines that are the person's, or the whole catalogue (O21). */
export const listBlockers = async (
  { all = false }: { readonly all?: boolean },
  { output, plane, surroundings }: Context,
): Promise<void> => {
  const list = await (await plane()).read<BlockerList>(`/v1/blockers${all ? '?all=true' : ''}`, surroundings.signal);
  if (output.asJson) output.json(list);
  else showBlockers(output, list, all);
};

/** `rollcall readiness MACHINE`: what has kept a machine from taking work, the newest first (O32). */
export const showReadiness = async (
  machine: string,
  { limit }: { readonly limit: number },
  { output, plane, surroundings }: Context,
): Promise<void> => {
  const path = `${pathOf(machine)}/readiness?limit=${limit}`;
  const readiness = await (await plane()).read<Readiness>(path, surroundings.signal);
  if (output.asJson) output.json(readiness);
  else showEpisodes(output, readiness);
};
