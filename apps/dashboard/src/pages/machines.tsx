import type { MachineView, PresenceCounts } from '@rollcall/wire';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { Rows } from '../parts/rows.js';
import { nameOf, State } from '../parts/state.js';
import { Ago, useNow } from '../parts/time.js';
import { words } from '../plane/ask.js';
import { FleetFollower, NO_FLEET, type Fleet, type Which } from '../plane/fleet.js';

const ROW_PX = 56;
const TYPED_MS = 200;

const CHOICES: readonly (readonly [Which, string, (counts: PresenceCounts) => number])[] = [
  ['all', 'All', ({ total }) => total],
  ['present', 'Present', (counts) => sum(counts, ({ presence }) => presence === 'present')],
  ['absent', 'Absent', (counts) => sum(counts, ({ presence }) => presence === 'absent')],
  ['stopped', 'Stopped', (counts) => sum(counts, ({ lifecycle }) => lifecycle === 'stopped')],
  ['blocked', 'Cannot take work', ({ blocked }) => blocked],
];

const sum = ({ states }: PresenceCounts, wanted: (state: PresenceCounts['states'][number]) => boolean): number =>
  states.filter(wanted).reduce((total, { machines }) => total + machines, 0);

/** The live list. */
export const MachinesPage = () => {
  const [which, setWhich] = useState<Which>('all');
  const [typed, setTyped] = useState('');
  const name = useSettled(typed.trim(), TYPED_MS);
  const { fleet, more } = useFleet(which, name);
  const now = useNow();
  const { counts, machines, isLive, isComplete, problem } = fleet;
  return (
    <main class="fleet">
      <h1 class="hidden">Machines</h1>
      <div class="choices" role="group" aria-label="Which machines">
        {CHOICES.map(([choice, label, count]) => (
          <button key={choice} type="button" aria-pressed={which === choice} onClick={() => setWhich(choice)}>
            <span class="count">{counts === null ? '–' : count(counts).toLocaleString()}</span> {label}
          </button>
        ))}
      </div>
      <div class="tools">
        <input
          type="search"
          aria-label="Search by name or hostname"
          placeholder="Name or hostname"
          maxLength={64}
          value={typed}
          onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        />
        <span class={isLive ? 'live' : 'live not'} role="status">
          {isLive ? 'live' : 'waiting for the plane'}
        </span>
      </div>
      <p role="alert" class="problem">
        {problem === null ? '' : words(problem)}
      </p>
      <div role="table" aria-label="Machines" aria-rowcount={isComplete ? machines.length : -1} class="table">
        <div role="row" class="row head">
          <span role="columnheader">Machine</span>
          <span role="columnheader">State</span>
          <span role="columnheader">In the way of work</span>
          <span role="columnheader">Last contact</span>
        </div>
        {isComplete && machines.length === 0 ? (
          <p class="empty">
            {typed || which !== 'all' ? 'No machine is like that.' : 'There is no machine yet. Add one above.'}
          </p>
        ) : (
          <Rows
            count={machines.length}
            height={ROW_PX}
            nearEnd={more}
            row={(index) => <Row key={machines[index]!.id} machine={machines[index]!} now={now} />}
          />
        )}
      </div>
    </main>
  );
};

const Row = ({ machine, now }: { readonly machine: MachineView; readonly now: number }) => (
  <Link href={`/machines/${machine.id}`} role="row" class="row">
    <span role="cell" class="name">
      {nameOf(machine)}
      {machine.hostname !== null && machine.hostname !== machine.name && <span class="faint"> {machine.hostname}</span>}
    </span>
    <span role="cell" class="what">
      <State machine={machine} />
    </span>
    <span role="cell" class="blockers">
      {machine.blockers.map(({ code, sentence }) => (
        <span key={code} class="blocker" title={sentence}>
          {code}
        </span>
      ))}
    </span>
    <span role="cell" class="when">
      <Ago at={machine.lastCheckAt} now={now} />
    </span>
  </Link>
);

const useFleet = (which: Which, name: string): { readonly fleet: Fleet; readonly more: () => void } => {
  const [fleet, setFleet] = useState<Fleet>(NO_FLEET);
  const follower = useRef<FleetFollower | null>(null);
  // The stream is opened once; the effect after it says what of it is shown.
  useEffect(() => {
    const one = new FleetFollower({ which, name }, setFleet);
    follower.current = one;
    return () => one.close();
  }, []);
  useEffect(() => follower.current?.show({ which, name }), [which, name]);
  const more = useCallback(() => void follower.current?.more(), []);
  return { fleet, more };
};

/** A value that has not changed for a while. */
const useSettled = (value: string, ms: number): string => {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
};
