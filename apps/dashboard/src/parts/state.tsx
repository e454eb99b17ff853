import type { MachineView } from '@rollcall/wire';

/** Presence in a word, a shape and a colour: none of the three is needed to understand the others. */
export const State = ({ machine }: { readonly machine: MachineView }) => {
  const [kind, mark, word] = stateOf(machine);
  return (
    <span class={`state ${kind}`}>
      <span aria-hidden="true">{mark}</span> {word}
    </span>
  );
};

const stateOf = ({ presence, lifecycle, canTakeWork, stopReason }: MachineView): readonly [string, string, string] => {
  if (lifecycle === 'deleted') return ['gone', '×', 'deleted'];
  if (presence === 'not-yet-arrived') return ['waiting', '…', 'not yet arrived'];
  if (lifecycle === 'stopped') return ['stopped', '■', `stopped (${stopReason ?? 'on purpose'})`];
  if (presence === 'absent') return ['absent', '○', 'absent'];
  if (lifecycle === 'stopping') return ['stopped', '■', 'stopping'];
  return canTakeWork ? ['present', '●', 'present'] : ['blocked', '▲', 'present, cannot take work'];
};

/** What people call a machine; its id where it has no name yet. */
export const nameOf = ({ name, hostname, id }: Pick<MachineView, 'name' | 'hostname' | 'id'>): string =>
  name ?? hostname ?? id;
