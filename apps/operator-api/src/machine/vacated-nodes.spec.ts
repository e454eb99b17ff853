import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { code, codeStream, issuedToken, token, tokenStream, type IssueToken } from '@rollcall/admission';
import { part } from '@rollcall/event-store';
import { InMemoryEventStore } from '@rollcall/event-store/testing';
import { InMemoryLogTails } from '@rollcall/log-tails/testing';
import { machine, machineStream } from '@rollcall/machine';
import { admit } from '@rollcall/machine/testing';
import { randomUUID } from 'node:crypto';
import { OpenAdmissions } from './open-admissions.js';
import type { OwnedMachines } from './owned-machines.js';
import { VacatedNodes } from './vacated-nodes.js';

const OWNER = 'person-1';
const actor = { kind: 'person', id: OWNER } as const;
const NODE = { id: 'node-1' };

/** Somebody else is quicker, right before or right after the older admissions were looked for. */
class Interrupted extends OpenAdmissions {
  readonly first: (() => Promise<unknown>)[] = [];
  readonly work: (() => Promise<unknown>)[] = [];

  override async before(...asked: Parameters<OpenAdmissions['before']>) {
    await this.first.shift()?.();
    const found = await super.before(...asked);
    await this.work.shift()?.();
    return found;
  }
}

let now = Date.UTC(2026, 0, 1, 12);
let store: InMemoryEventStore;
let open: Interrupted;
let nodes: VacatedNodes;
beforeEach(() => {
  store = new InMemoryEventStore({ now: () => now });
  open = new Interrupted(store);
  nodes = new VacatedNodes(store, null as unknown as OwnedMachines, new InMemoryLogTails(), open);
});
afterEach(() => store.close());

/** Joins the node with an admission. @returns the machine's id */
const join = async (admission: string): Promise<string> => {
  const machineId = randomUUID();
  const of = { id: admission, expiresAt: now + 900_000, owner: OWNER, name: null };
  const command = admit({ machineId, nodeId: NODE.id, token: of, identifierHash: randomUUID(), keyHash: randomUUID() });
  await store.decide(machine, { stream: machineStream(machineId) }, command, { actor });
  return machineId;
};
const isDeleted = async (id: string) =>
  (await store.view(machine, { stream: machineStream(id) }))?.state.enrolment?.deleted;

/** Makes a token for the node. */
const issue = async (id: string = randomUUID()): Promise<{ readonly id: string; readonly replaces: string | null }> => {
  const command: IssueToken = {
    type: 'IssueToken',
    tokenHash: `hash of ${id}`,
    owner: OWNER,
    name: null,
    expiresIn: 900,
    node: NODE.id,
  };
  const { replaces } = await nodes.vacateWith(NODE, part(token, tokenStream(id), command), { actor, commandId: id });
  return { id, replaces };
};
const admits = async (id: string) => {
  const view = await store.view(token, { stream: tokenStream(id) });
  return view !== null && issuedToken(id, view.state) !== null;
};

describe('a token for a node (N19)', () => {
  it('ends the older ones of its node that nobody has used, and an approved code, and no others', async () => {
    await join('first');
    const other: IssueToken = { type: 'IssueToken', tokenHash: 'other', owner: OWNER, name: null, expiresIn: 900 };
    await store.decide(token, { stream: tokenStream('other') }, other, { actor });
    const asked = {
      identifierHash: 'i',
      keyHash: 'k',
      report: { hostname: null, agentVersion: null, platform: null, arch: null },
    };
    const [stream, request] = [
      codeStream('c'),
      { type: 'RequestCode', userCodeHash: 'u', deviceCodeHash: 'd', ...asked } as const,
    ];
    await store.decide(code, { stream }, request, { actor: { kind: 'plane', id: 'test' } });
    await store.decide(code, { stream }, { type: 'ApproveCode', owner: OWNER, name: null, node: NODE.id }, { actor });
    const older = await issue();
    expect((await store.view(code, { stream }))?.state?.answer).toBe('refused');
    const newer = await issue();
    expect(await Promise.all([older.id, newer.id, 'other'].map(admits))).toEqual([false, true, true]);
    await expect(join(older.id)).rejects.toThrow('redemption');
    expect((await open.of(OWNER)).map(({ id }) => id)).toEqual(['other', newer.id]);
  });

  it('replaces whoever joined by an older one since the node was named', async () => {
    const first = await join('first');
    const older = await issue();
    expect(older.replaces).toBe(first);
    const joined = await join(older.id);
    expect((await issue()).replaces).toBe(joined);
    expect(await isDeleted(joined)).toBe(true);
  });

  it.each(['first', 'work'] as const)('replaces whoever joins by an older one in between, too (%s)', async (moment) => {
    await join('first');
    const older = await issue();
    let joined = '';
    open[moment].push(async () => (joined = await join(older.id)));
    const newer = await issue();
    expect(newer.replaces).toBe(joined);
    expect([await isDeleted(joined), await admits(newer.id)]).toEqual([true, true]);
  });

  it('gives up where others are always quicker, and has deleted nothing and made nothing then', async () => {
    await join('first');
    let older = await issue();
    for (let round = 0; round < 5; round += 1)
      open.work.push(async () => {
        const joined = await join(older.id);
        await store.decide(machine, { stream: machineStream(joined) }, { type: 'DeleteMachine' }, { actor });
        const id = randomUUID();
        const command: IssueToken = {
          type: 'IssueToken',
          tokenHash: id,
          owner: OWNER,
          name: null,
          expiresIn: 900,
          node: NODE.id,
        };
        await store.decide(token, { stream: tokenStream(id) }, command, { actor });
        older = { id, replaces: null };
      });
    const wanted = randomUUID();
    await expect(issue(wanted)).rejects.toMatchObject({ code: 'unavailable' });
    expect(await admits(wanted)).toBe(false);
  });

  it('ends no younger one when it is asked for again after a lost answer, and nobody who joined by it', async () => {
    await join('first');
    const older = await issue();
    const newer = await issue();
    expect(await open.before(tokenStream(older.id), NODE.id, OWNER)).toEqual([]);
    await issue(older.id);
    expect(await admits(newer.id)).toBe(true);
    const joined = await join(newer.id);
    expect(await issue(newer.id)).toEqual({ id: newer.id, replaces: null });
    expect(await isDeleted(joined)).toBe(false);
  });

  it('is found for as long as it can be used', async () => {
    await join('first');
    const { id } = await issue();
    expect((await open.of(OWNER)).map(({ kind, node }) => [kind, node])).toEqual([['token', NODE.id]]);
    expect(await open.of('person-2')).toEqual([]);
    now += 900_000;
    await store.mark(0);
    expect(await open.of(OWNER)).toEqual([]);
    expect(await admits(id)).toBe(true);
  });
});
