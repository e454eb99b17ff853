// A process of its own that writes to the record, for the fault tests. The first argument is what it is to do, as JSON; it answers with
// one line of JSON per command, once it was told the truth about it.
import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { Refusal, type Decider, type Typed } from '@rollcall/decider';
import { LogBackedStore, type DecideOptions, type Target } from '@rollcall/event-store';
import { PostgresLog } from '@rollcall/event-store-postgres';
import { tally } from '@rollcall/event-store/testing';
import { credentialKey, machine, machineStream } from '@rollcall/machine';
import { admit, check } from '@rollcall/machine/testing';

/** What a writer is to do. */
export type Task = {
  readonly url: string;
  readonly name: string;
  readonly seed: number;
  /** `mixture`: machines and contended tallies, with delays and refusals. `race`: everything on one stream. `stream`: one after the other until SIGTERM. */
  readonly work: 'mixture' | 'race' | 'stream';
  readonly writers: number;
  readonly commands: number;
};

/** What became of a command. `recorded` is null when it was found to be recorded already, and -1n never occurs. */
export type Told = {
  readonly id: string;
  readonly kind: 'command' | 'check';
  readonly told: 'recorded' | 'repeated' | 'refused' | 'done';
  readonly stream: string;
  readonly revision: number | null;
  readonly batch: string | null;
};

const task = JSON.parse(process.argv[2] ?? '') as Task;
const actor = { kind: 'person', id: task.name } as const;
const log = new PostgresLog({ connectionString: task.url, applicationName: task.name, callTimeoutMs: 1_000 });
const store = new LogBackedStore(log);
const stopping = new AbortController();
process.once('SIGTERM', () => stopping.abort());

// mulberry32: the same seed makes the same sequence of wishes.
let seed = task.seed;
const random = (): number => {
  seed = (seed + 0x6d2b79f5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
};
const below = (n: number): number => Math.floor(random() * n);

const tell = (told: Told): void => void process.stdout.write(`${JSON.stringify(told)}\n`);

/** Insists, as an honest caller does: the same ids again until it is told what became of them. */
const insist = async <State, Command extends Typed, Fact extends Typed>(
  decider: Decider<State, Command, Fact>,
  target: Target,
  command: Command,
  options: DecideOptions & { readonly id: string; readonly kind: Told['kind'] },
): Promise<boolean> => {
  const { id, kind, ...rest } = options;
  for (;;) {
    try {
      const { stream, revision, repeated, batch } = await store.decide(decider, target, command, rest);
      tell({
        id,
        kind,
        told: repeated ? 'repeated' : 'recorded',
        stream,
        revision,
        batch: batch === null ? null : String(batch),
      });
      return true;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (error.code !== 'unavailable') {
        tell({
          id,
          kind,
          told: 'refused',
          stream: 'stream' in target ? target.stream : target.claim,
          revision: null,
          batch: null,
        });
        return false;
      }
      await wait(20 + below(50));
    }
  }
};

const command = (on: string, what: Parameters<typeof tally.decide>[1]) => {
  const id = randomUUID();
  return insist(tally, { stream: on }, what, { actor, commandId: id, id, kind: 'command' });
};

/** A machine of its own that checks and is deleted at last, and tallies that all writers fight for. */
const mixture = async (): Promise<void> => {
  const machineId = randomUUID();
  const keyHash = createHash('sha256').update(machineId).digest('hex');
  const id = randomUUID();
  const token = { id: randomUUID(), expiresAt: Date.now() + 3_600_000, owner: 'person-1', name: null };
  await insist(
    machine,
    { stream: machineStream(machineId) },
    admit({ machineId, keyHash, identifierHash: machineId, token }),
    {
      actor,
      commandId: id,
      id,
      kind: 'command',
    },
  );
  let boot = 1;
  let sequence = 0;
  for (let turn = 0; turn < task.commands; turn += 1) {
    await wait(below(12));
    const dice = below(100);
    if (dice < 25) await command(`tally-${below(8)}`, { type: 'Add', amount: 1 });
    else if (dice < 30) await command(`tally-${below(8)}`, { type: 'AddIfTotal', total: -1, amount: 1 });
    else {
      if (dice < 33) [boot, sequence] = [boot + 1, 0];
      sequence += 1;
      const checkId = randomUUID();
      const said = dice < 36 ? ({ said: 'stopping', reason: 'update' } as const) : {};
      await insist(
        machine,
        { claim: credentialKey(keyHash) },
        check({
          keyHash,
          checkId,
          sequence,
          boot: { counter: boot, id: boot.toString(16).padStart(8, '0') },
          name: task.name,
          blockers: dice < 45 ? ['disk-full'] : [],
          ...said,
        }),
        { actor, commandId: null, id: checkId, kind: 'check' },
      );
    }
  }
  if (below(4) > 0) return;
  const last = randomUUID();
  await insist(
    machine,
    { stream: machineStream(machineId) },
    { type: 'DeleteMachine' },
    { actor, commandId: last, id: last, kind: 'command' },
  );
};

/** Decides on what it sees, as fast as it can: most of these are too late. */
const race = async (): Promise<void> => {
  for (let turn = 0; turn < task.commands; turn += 1) {
    const seen = (await store.view(tally, { stream: 'tally-race' }))?.state.total ?? 0;
    await command('tally-race', { type: 'AddIfTotal', total: seen, amount: 1 });
  }
};

const stream = async (): Promise<void> => {
  for (let turn = 0; !stopping.signal.aborted; turn += 1)
    await command(`tally-${task.name}-${turn % 50}`, { type: 'Add', amount: 1 });
};

await Promise.all(Array.from({ length: task.writers }, { mixture, race, stream }[task.work]));
await store.close();
