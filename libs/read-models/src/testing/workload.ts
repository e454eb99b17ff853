import { token, tokenStream } from '@rollcall/admission';
import { Refusal, type Decider, type Typed } from '@rollcall/decider';
import type { Actor, DecideOptions, EventStore } from '@rollcall/event-store';
import {
  BLOCKER_CODES,
  credentialKey,
  machine,
  machineStream,
  STOP_REASONS,
  type AcceptCheck,
  type Boot,
  type MachineCommand,
} from '@rollcall/machine';
import { personStream, person } from '@rollcall/person';

/** A seeded life of a fleet. The same seed gives the same commands in the same rounds. */
export type WorkloadOptions = {
  readonly seed: number;
  /** It ends after the round in which the record of machines came to this many facts. */
  readonly facts: number;
  /** How many live at a time; who is deleted is followed by another. */
  readonly machines: number;
  /** Called between rounds, with how much time should pass; a record on a real clock passes its own. */
  readonly pass?: (milliseconds: number) => Promise<void> | void;
};

/** What a workload came to. */
export type WorkloadReport = { readonly facts: number; readonly refusals: number; readonly machines: number };

type Installation = {
  readonly id: string;
  readonly identifier: string;
  keyHash: string;
  nextKey: string | null;
  boot: Boot;
  sequence: number;
  last: AcceptCheck | null;
  admitted: boolean;
  deleted: boolean;
};

/**
 * Drives real rules against a record: admissions, checks, repetitions, late checks, restarts, goodbyes, blockers, reports, renames,
 * rotations and deletions, with what the rules refuse in between, in rounds of random size whose commands share their batches.
 */
export const runWorkload = async (store: EventStore, options: WorkloadOptions): Promise<WorkloadReport> => {
  const random = randomFrom(options.seed);
  const fleet: Installation[] = [];
  const revisions = new Map<string, number>();
  let refusals = 0;
  let known = 0;

  const decide = async <State, Command extends Typed, Fact extends Typed>(
    decider: Decider<State, Command, Fact>,
    target: { readonly stream: string } | { readonly claim: string },
    command: Command,
    decideOptions: DecideOptions,
  ): Promise<boolean> => {
    try {
      const { stream, revision } = await store.decide(decider, target, command, decideOptions);
      if (stream.startsWith('machine-')) revisions.set(stream, Math.max(revision, revisions.get(stream) ?? 0));
      return true;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      refusals += 1;
      return false;
    }
  };

  const join = (): Installation => {
    known += 1;
    const installation: Installation = {
      id: random.uuid(),
      identifier: random.hash(),
      keyHash: random.hash(),
      nextKey: null,
      boot: { counter: 1, id: random.hash().slice(0, 8) },
      sequence: 0,
      last: null,
      admitted: false,
      deleted: false,
    };
    fleet.push(installation);
    return installation;
  };

  const act = async (installation: Installation): Promise<void> => {
    const stream = machineStream(installation.id);
    const command = commandFor(installation, random);
    if (command === null) return;
    if (command.type === 'AdmitMachine') await others(decide, random);
    const target = command.type === 'AcceptCheck' ? { claim: credentialKey(command.keyHash) } : { stream };
    const actor = actorOf(command, installation);
    const commandId = command.type === 'AcceptCheck' ? {} : { commandId: random.uuid() };
    const accepted = await decide(machine, target, command, { actor, ...commandId });
    if (accepted) learn(installation, command);
  };

  let facts = 0;
  while (facts < options.facts) {
    while (fleet.filter(({ deleted }) => !deleted).length < options.machines) join();
    // Who was deleted goes on trying for a while, and is refused.
    if (fleet.length > options.machines * 1.2)
      fleet.splice(
        fleet.findIndex(({ deleted }) => deleted),
        1,
      );
    const size = 1 + random.below(random.below(3) === 0 ? fleet.length : 60);
    await Promise.all(random.some(fleet, size).map(act));
    facts = [...revisions.values()].reduce((sum, revision) => sum + revision, 0);
    await options.pass?.(random.below(40) === 0 ? 16_000 + random.below(600_000) : 100 + random.below(4_000));
  }
  return { facts, refusals, machines: known };
};

const commandFor = (installation: Installation, random: Random): MachineCommand | null => {
  if (!installation.admitted) {
    return {
      type: 'AdmitMachine',
      machineId: installation.id,
      nodeId: random.uuid(),
      token: {
        id: random.uuid(),
        expiresAt: random.below(20) === 0 ? 0 : Number.MAX_SAFE_INTEGER,
        owner: random.uuid(),
        name: random.below(2) === 0 ? `node ${random.below(1_000)}` : null,
      },
      identifierHash: installation.identifier,
      keyHash: installation.keyHash,
      report: reportOf(random),
    };
  }
  const dice = random.below(1_000);
  if (dice < 4) return { type: 'DeleteMachine' };
  if (dice < 24) return { type: 'RenameMachine', name: `name ${random.below(10_000)} ✓` };
  if (dice < 34) return { type: 'StartRotation', keyHash: installation.keyHash, nextKeyHash: random.hash() };
  if (dice < 44) return { type: 'RequestLogTail' };
  if (dice < 47) return pauseOf(random);
  if (dice < 50) return { type: 'ResumeMachine' };
  if (dice < 53)
    return { type: 'SetLabels', set: { [`key-${random.below(4)}`]: `${random.below(9)}` }, remove: ['key-0'] };
  // A watcher that has heard nothing for ever: an absence is recorded, unless one is.
  if (dice < 57) return { type: 'NoteSilence', heardUntil: Number.MAX_SAFE_INTEGER, gapEnd: null };
  if (dice < 59) return { type: 'RequestRotation' };
  if (dice < 61) return { type: 'NoteRefusedClaim', token: random.uuid(), hostname: `host-${random.below(9)}` };
  if (dice < 64 && installation.last !== null) return installation.last;
  return checkOf(installation, dice, random);
};

const pauseOf = (random: Random): MachineCommand => ({
  type: 'PauseMachine',
  note: `note ${random.below(5)}`,
  until: random.below(2) === 0 ? null : new Date(Date.UTC(2090, random.below(12))).toISOString(),
});

const checkOf = (installation: Installation, dice: number, random: Random): AcceptCheck => {
  if (dice >= 64 && dice < 94) {
    installation.boot = { counter: installation.boot.counter + 1, id: random.hash().slice(0, 8) };
    installation.sequence = 0;
  }
  const late = dice >= 94 && dice < 114;
  const stopping = dice >= 114 && dice < 154;
  const interval = random.pick([10, 30, 30, 30, 45]);
  return {
    type: 'AcceptCheck',
    keyHash: random.below(200) === 0 ? random.hash() : (installation.nextKey ?? installation.keyHash),
    boot: installation.boot,
    sequence: late ? 0 : (installation.sequence += 1),
    checkId: random.uuid(),
    said: stopping ? 'stopping' : 'running',
    reason: stopping ? random.pick(STOP_REASONS) : null,
    blockers: random.below(25) === 0 ? random.some([...BLOCKER_CODES, 'from-the-future'], random.below(4)) : null,
    notProbed: [],
    name: random.below(10) === 0 ? `ip-10-0-0-${random.below(256)}` : null,
    report: random.below(50) === 0 ? reportOf(random) : {},
    chain: null,
    policy: { interval, windowFloor: 120 },
  };
};

const learn = (installation: Installation, command: MachineCommand): void => {
  if (command.type === 'AdmitMachine') installation.admitted = true;
  if (command.type === 'DeleteMachine') installation.deleted = true;
  if (command.type === 'StartRotation') installation.nextKey = command.nextKeyHash;
  if (command.type === 'AcceptCheck') {
    installation.last = command;
    installation.keyHash = command.keyHash;
    if (command.keyHash === installation.nextKey) installation.nextKey = null;
  }
};

const actorOf = (command: MachineCommand, { id }: Installation): Actor =>
  command.type === 'AcceptCheck' || command.type === 'StartRotation'
    ? { kind: 'machine', id }
    : { kind: 'person', id: 'anna' };

type Decide = <State, Command extends Typed, Fact extends Typed>(
  decider: Decider<State, Command, Fact>,
  target: { readonly stream: string },
  command: Command,
  options: DecideOptions,
) => Promise<boolean>;

/** Facts of other categories, which are none of these read models' business. */
const others = async (decide: Decide, random: Random): Promise<void> => {
  const owner = random.uuid();
  const actor: Actor = { kind: 'person', id: owner };
  await decide(
    person,
    { stream: personStream(owner) },
    { type: 'RegisterPerson', name: 'Anna' },
    { actor, commandId: random.uuid() },
  );
  const issue = { type: 'IssueToken', tokenHash: random.hash(), owner, name: null, expiresIn: 900 } as const;
  await decide(token, { stream: tokenStream(random.uuid()) }, issue, { actor, commandId: random.uuid() });
};

const reportOf = (random: Random) => ({
  hostname: random.below(10) === 0 ? null : `host-${random.below(500)}`,
  agentVersion: random.pick(['0.1.0', '0.1.1']),
  platform: 'linux',
  arch: random.pick(['x64', 'arm64']),
});

/** Repeatable randomness. */
export type Random = {
  /** An integer from 0 to `limit` - 1. */
  below(limit: number): number;
  pick<Value>(values: readonly Value[]): Value;
  /** Some of them, each at most once. */
  some<Value>(values: readonly Value[], count: number): Value[];
  uuid(): string;
  /** 64 hexadecimal digits. */
  hash(): string;
};

/** Randomness that follows from a seed (mulberry32). */
export const randomFrom = (seed: number): Random => {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  const below = (limit: number): number => next() % limit;
  const hex = (words: number): string =>
    Array.from({ length: words }, () => next().toString(16).padStart(8, '0')).join('');
  return {
    below,
    pick: (values) => values[below(values.length)]!,
    some: (values, count) => {
      const rest = [...values];
      return Array.from({ length: Math.min(count, rest.length) }, () => rest.splice(below(rest.length), 1)[0]!);
    },
    uuid: () => hex(4).replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-4$3-8$4-$5'),
    hash: () => hex(8),
  };
};
