import { randomUUID } from 'node:crypto';
import { token, tokenStream } from '@rollcall/admission';
import { timestampOf } from '@rollcall/decider';
import {
  encodeEnrolmentToken,
  hashOf,
  makeSecret,
  type History,
  type MachineList,
  type MachineView,
} from '@rollcall/wire';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { Person } from '../support/person.js';
import { MACHINE_ADDRESS, startPlane, type ProcessPlane } from '../support/plane.js';
import { eventually, type Running } from '../support/processes.js';

describe('a machine enrols, checks in, and the plane knows', () => {
  let plane: ProcessPlane;
  let person: Person;
  let agent: Running;
  let enrolmentToken: string;
  let id: string;

  beforeAll(async () => {
    plane = await startPlane();
    person = await Person.of(plane);
    expect(await plane.cli('login', await plane.link())).toMatchObject({ code: 0 });
  }, 120_000);
  afterAll(() => plane.close(), 60_000);

  const list = async (...flags: string[]): Promise<MachineList> => {
    const { code, stdout, output } = await plane.cli('machines', 'list', '--json', ...flags);
    if (code !== 0) throw new Error(output);
    return JSON.parse(stdout) as MachineList;
  };
  const only = async (...flags: string[]): Promise<MachineView> => {
    const { machines } = await list(...flags);
    expect(machines).toHaveLength(1);
    return machines[0] as MachineView;
  };
  /** What is waited for is asked for without a program for each look. */
  const seen = async (): Promise<MachineView | undefined> => (await person.machines()).machines[0];
  const becomes = async (expected: Partial<MachineView>, ...flags: string[]) => {
    const what = `the machine is ${JSON.stringify(expected)}`;
    const shows = (look: () => Promise<MachineView | undefined>) =>
      eventually(what, async () => {
        expect(await look()).toMatchObject(expected);
        return true;
      });
    if (flags.length === 0) await shows(seen);
    await shows(async () => (await list(...flags)).machines[0]);
  };
  const issueToken = async (): Promise<string> => {
    const { code, stdout } = await plane.cli('token', 'issue');
    expect(code).toBe(0);
    return stdout.trim();
  };
  /** A token that a person issued and that has run out: nobody waits a minute for one here. */
  const expiredToken = async (): Promise<string> => {
    const secret = makeSecret('rce');
    const past = {
      ...token,
      decide: () =>
        [
          {
            type: 'TokenIssued',
            tokenHash: hashOf(secret),
            expiresAt: timestampOf(Date.now() - 1000),
            owner: plane.personId,
            name: null,
          },
        ] as const,
    };
    await plane.store.decide(
      past,
      { stream: tokenStream(randomUUID()) },
      { type: 'IssueToken', tokenHash: hashOf(secret), owner: plane.personId, name: null, expiresIn: 60 },
      { actor: { kind: 'person', id: plane.personId } },
    );
    return encodeEnrolmentToken({ address: plane.machineApi.url, pins: plane.machineApi.pins, secret });
  };
  const withoutRequestId = (text: string) => text.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '');

  it('admits an installation with a token, and shows it present after its first check (N3, N20, O22, O23, U6)', async () => {
    enrolmentToken = await issueToken();
    const enrolled = await plane.agent('one', ['enrol'], enrolmentToken);
    expect(enrolled).toMatchObject({ code: 0 });
    expect(enrolled.output).not.toContain('rcm_');
    agent = await plane.runAgent('one');
    await becomes({ presence: 'present', lifecycle: 'running' });
    const machine = await only();
    // Where a test is run from a terminal, the agent may well be one that stops at logout.
    expect(machine.sentence).toMatch(/^present(; note: the agent stops when its user logs out|$)/);
    id = machine.id;
    expect(Object.keys(machine)).toEqual(
      expect.arrayContaining([
        'id',
        'name',
        'hostname',
        'presence',
        'lastCheckAt',
        'lifecycle',
        'stopReason',
        'blockers',
        'agentVersion',
      ]),
    );
    expect(Date.parse((await list()).asOf ?? '')).toBeGreaterThan(0);
  }, 60_000);

  it('refuses a used token to another machine in the words of an expired one, and repeats it for the same machine (N20, C07)', async () => {
    const again = await plane.agent('one', ['enrol'], enrolmentToken);
    const used = await plane.agent('two', ['enrol'], enrolmentToken);
    const expired = await plane.agent('two', ['enrol'], await expiredToken());
    const unknown = await plane.agent(
      'two',
      ['enrol'],
      encodeEnrolmentToken({ address: plane.machineApi.url, pins: plane.machineApi.pins, secret: makeSecret('rce') }),
    );
    expect(again).toMatchObject({ code: 0 });
    expect(used).toMatchObject({ code: 4 });
    expect(withoutRequestId(expired.output)).toBe(withoutRequestId(used.output));
    expect(withoutRequestId(unknown.output)).toBe(withoutRequestId(used.output));
    expect((await list()).machines).toHaveLength(1);
  }, 60_000);

  it('lands on both instances in turn, and is one machine with one order of facts (U9)', async () => {
    await eventually('ten checks are recorded', async () => ((await seen())?.revision ?? 0) > 15, 40_000);
    const facts = await plane.store.readStream(`machine-${id}`);
    expect(facts.map((fact) => fact.revision)).toEqual(facts.map((_, index) => index + 1));
    // Both instances wrote: each has its own connection, and the balancer changes with every check.
    const sequences = facts.flatMap((fact) => (fact.kind === 'check-in' ? [fact.checkIn.sequence] : []));
    expect(sequences).toEqual(sequences.map((_, index) => index + 1));
  }, 60_000);

  it('calls a killed machine absent with an unknown end, never stopped (O22, O23, C17)', async () => {
    agent.signal('SIGKILL');
    await agent.exited;
    const words = new Set<string>();
    await eventually('the machine is absent', async () => {
      const machine = await seen();
      words.add(`${machine?.presence} ${machine?.lifecycle}`);
      return machine?.presence === 'absent';
    });
    expect(await only()).toMatchObject({ presence: 'absent', lifecycle: 'unknown', stopReason: null });
    expect([...words].filter((word) => word.includes('stop'))).toEqual([]);
  }, 60_000);

  it('keeps what it is asked for while it is away (O26)', async () => {
    expect(await plane.cli('machines', 'request-log', id)).toMatchObject({ code: 0 });
    expect(await plane.cli('machines', 'log', id)).toMatchObject({ code: 4, stdout: '' });
    await eventually('the request is shown', async () => (await seen())?.requests.logTail !== null);
    expect((await only()).requests.logTail).not.toBeNull();
  }, 60_000);

  it('sees it present again after the next start (O23, U9)', async () => {
    agent = await plane.runAgent('one');
    await becomes({ presence: 'present', lifecycle: 'running', id });
    expect((await list()).machines).toHaveLength(1);
  }, 60_000);

  it('has the end of its log then, once, whichever instance it lands on (O26, U9)', async () => {
    await eventually('the log is there', async () => (await plane.cli('machines', 'log', id)).code === 0);
    const { stdout } = await plane.cli('machines', 'log', id);
    expect(stdout).toMatch(/ info .*is running, process \d+\n(.*\n)*.* info Checked in\n/);
    expect(stdout).not.toMatch(/rc[moe]_/);
    await becomes({ requests: { logTail: null, rotation: null } });
    const facts = await plane.store.readStream(`machine-${id}`);
    const received = facts.filter((fact) => fact.kind === 'event' && fact.event.type === 'LogTailReceived');
    expect(received).toHaveLength(1);
  }, 60_000);

  it('tells a stop by a person from a disappearance: stopping, then stopped (O7, O17, O23)', async () => {
    expect(await plane.agent('one', ['stop'])).toMatchObject({ code: 0 });
    expect(await agent.exited).toMatchObject({ code: 0 });
    const words = new Set<string>();
    await eventually('the machine is stopped', async () => {
      const machine = await seen();
      words.add(`${machine?.presence} ${machine?.lifecycle}`);
      return machine?.lifecycle === 'stopped';
    });
    expect([...words]).toEqual(expect.arrayContaining(['absent stopped']));
    expect(words.has('present stopped')).toBe(false);
    expect(await only()).toMatchObject({ presence: 'absent', lifecycle: 'stopped', stopReason: 'person' });
  }, 60_000);

  it('stays stopped until a person starts it, whoever runs it (O7)', async () => {
    const refused = await plane.agent('one', ['run']);
    expect(refused).toMatchObject({ code: 7 });
    expect(refused.output).toContain('rollcall-agent start');
    expect(await only()).toMatchObject({ lifecycle: 'stopped' });
    expect(await plane.agent('one', ['start'])).toMatchObject({ code: 0 });
    await becomes({ presence: 'present', lifecycle: 'running' });
    // A second one finds the first and leaves it alone.
    expect(await plane.agent('one', ['run'])).toMatchObject({ code: 0 });
  }, 60_000);

  it('keeps the name a person gave, beside the hostname that the machine reports (O24, C02)', async () => {
    expect(await plane.cli('machines', 'rename', id, 'build-box')).toMatchObject({ code: 0 });
    await becomes({ name: 'build-box' });
    const { revision, hostname } = await only();
    await eventually('three more checks', async () => ((await seen())?.revision ?? 0) > revision + 3);
    expect(await only()).toMatchObject({ name: 'build-box', hostname });
  }, 60_000);

  it('shows an old truth, and nobody absent, while the projector is stopped (B1, U7)', async () => {
    await becomes({ presence: 'present', lifecycle: 'running' });
    await plane.projector.stop();
    const before = await list();
    // Far longer than the window: the record goes on, the read model does not.
    await eventually('the record has moved on for two windows', async () => {
      const { recordedAt } = await plane.store.newest();
      return recordedAt - Date.parse(before.asOf ?? '') > 7_000;
    });
    const shown = ({ machines }: MachineList) =>
      machines.map(({ presence, lifecycle, lastCheckAt }) => ({ presence, lifecycle, lastCheckAt }));
    expect(shown(await list())).toEqual(shown(before));
    await plane.startProjector();
    await eventually('the read model is up to date', async () => {
      const now = await list();
      return Date.parse(now.asOf ?? '') > Date.parse(before.asOf ?? '') + 7_000;
    });
    await becomes({ presence: 'present' });
  }, 60_000);

  it('answers a deleted machine with its end: it stops its loop and says what a person can do (O20, O31)', async () => {
    expect(await plane.cli('machines', 'delete', id, '--yes')).toMatchObject({ code: 0 });
    await eventually('the agent waits for a person', async () => {
      const { stdout } = await plane.agent('one', ['status', '--json']);
      const status = JSON.parse(stdout) as { running: boolean; state: string; sentence: string };
      expect(status).toMatchObject({ running: true, state: 'waiting-for-person' });
      expect(status.sentence).toMatch(/enrol/);
      return true;
    });
    await eventually('the list is empty', async () => (await seen()) === undefined);
    expect((await list()).machines).toEqual([]);
    await becomes({ id, lifecycle: 'deleted' }, '--deleted');
  }, 60_000);

  it('brings nothing back after the deletion: its last fact stays the last (O31)', async () => {
    const before = await plane.store.readStream(`machine-${id}`);
    expect(before.at(-1)).toMatchObject({ kind: 'event', event: { type: 'MachineDeleted' } });
    const { recordedAt } = await plane.store.newest();
    await eventually(
      'the plane has listened for three more intervals',
      async () => (await plane.store.newest()).recordedAt > recordedAt + 3_000,
    );
    expect(await plane.store.readStream(`machine-${id}`)).toHaveLength(before.length);
    expect((await plane.agent('one', ['stop'])).code).toBe(0);
    // Anew, as another machine: the identifier is free again.
    expect(await plane.agent('one', ['enrol'], await issueToken())).toMatchObject({ code: 0 });
  }, 60_000);

  it('shows all of it in order in the history (U4, U6)', async () => {
    const { stdout } = await plane.cli('history', id, '--json');
    const { entries } = JSON.parse(stdout) as History;
    // Windows are short here: whether a moment between two steps was a silence depends on how busy the machine is.
    const isSilence = (type: string) => type === 'WentAbsent' || type === 'Returned';
    const types = entries.flatMap((entry) => (entry.kind === 'event' && !isSilence(entry.type) ? [entry.type] : []));
    expect(types).toEqual([
      'MachineAdmitted',
      'GenerationRegistered',
      'SelfReportChanged',
      'GenerationConfirmed',
      'AgentStarted',
      'NameAdopted',
      'LogTailRequested',
      'AgentStarted',
      'LogTailReceived',
      'StopAnnounced',
      'AgentStarted',
      'MachineRenamed',
      'MachineDeleted',
    ]);
    const revisions = entries.flatMap((entry) => ('revision' in entry ? [entry.revision] : []));
    expect(revisions).toEqual(revisions.toSorted((a, b) => a - b));
    // What is refused after the deletion is told after it.
    expect(entries.findLast(({ kind }) => kind !== 'refused')).toMatchObject({
      kind: 'event',
      type: 'MachineDeleted',
      actor: { kind: 'person', id: plane.personId },
    });
  }, 60_000);

  it('has written the address of a machine nowhere: not in a table, not in a log line (O2)', async () => {
    const rows = await everyRow(plane.database.ownerUrl);
    expect(rows.length).toBeGreaterThan(50);
    const logs = [...plane.machineApis, plane.operatorApi, plane.projector].map((running) => running.output());
    for (const text of [...rows, ...logs]) expect(text).not.toContain(MACHINE_ADDRESS);
  });
});

/** Every row of every table, as text. */
const everyRow = async (connectionString: string): Promise<readonly string[]> => {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `select quote_ident(tablename) as name from pg_tables where schemaname = 'public'`,
    );
    const rows: string[] = [];
    for (const { name } of tables) {
      const { rows: found } = await client.query<{ text: string }>(`select t::text as text from ${name} t`);
      rows.push(...found.map(({ text }) => text));
    }
    return rows;
  } finally {
    await client.end();
  }
};
