import type { Why, WhyBasis } from '@rollcall/wire';
import type { Context } from '../context.js';
import { noteAge } from '../output/machine-view.js';
import { clockTime } from '../output/relative-time.js';
import { pathOf } from './machines.js';

/** `rollcall why MACHINE [--at TIME]`: one sentence, and the facts that it rests on (B5). */
export const explain = async (
  machine: string,
  { at }: { readonly at?: string },
  { output, plane, surroundings }: Context,
): Promise<void> => {
  const query = at === undefined ? '' : `?at=${encodeURIComponent(at)}`;
  const why = await (await plane()).read<Why>(`${pathOf(machine)}/why${query}`, surroundings.signal);
  if (output.asJson) {
    output.json(why);
    return;
  }
  output.line(`${why.machine.name ?? why.machine.id}: ${why.sentence}.`);
  for (const basis of why.basis) output.line(`  ${clockTime(basis.at)}  ${factOf(basis)}`, 'quiet');
  if (at !== undefined && why.asOf !== null) output.note(`As of ${clockTime(why.asOf)}, in the past.`);
  else noteAge(output, why);
};

const factOf = (basis: WhyBasis): string => {
  switch (basis.kind) {
    case 'event':
      return `${basis.type} (revision ${basis.revision})`;
    case 'check':
      return `the last check, which said ${basis.said} (revision ${basis.revision})`;
    case 'not-observed':
      return `not observed until ${clockTime(basis.until)}`;
  }
};
