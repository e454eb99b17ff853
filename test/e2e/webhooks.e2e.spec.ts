import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { ensureWebhookKey } from '@rollcall/webhooks';
import type { AddWebhookAnswer, MachineList, MachineView, WebhookDeliveryList } from '@rollcall/wire';
import { Webhook } from 'standardwebhooks';
import { QUICK, startPlane, type ProcessPlane } from '../support/plane.js';
import { eventually } from '../support/processes.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';

jest.setTimeout(120_000);

let directory: string;
let receiver: WebhookReceiver;
let plane: ProcessPlane;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rollcall-webhooks-'));
  const keyFile = join(directory, 'webhook.key');
  await ensureWebhookKey(keyFile);
  receiver = await WebhookReceiver.listen();
  plane = await startPlane(QUICK, {
    quietMs: 15_000,
    settings: { ROLLCALL_WEBHOOK_KEY_FILE: keyFile, ROLLCALL_WEBHOOK_ALLOW: `127.0.0.1:${receiver.port}` },
  });
  await plane.signIn(await plane.link());
});
afterAll(async () => {
  await plane.close();
  await receiver[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

/** What the CLI prints, after it has done what it was asked. */
const rollcall = async <Answer>(...args: string[]): Promise<Answer> => {
  const { code, stdout, output } = await plane.cli(...args, '--json');
  expect([code, output]).toEqual([0, expect.any(String)]);
  return JSON.parse(stdout) as Answer;
};

it('tells a program that an operator added what happens to machines, so that it can verify it (U5, U6)', async () => {
  const before = await plane.agent('before', ['enrol'], await plane.enrolmentToken());
  expect(before).toMatchObject({ code: 0 });

  const { webhook, secret } = await rollcall<AddWebhookAnswer>(
    'webhooks',
    'add',
    receiver.url('/rollcall?key=theirs'),
    '--events',
    'machine.admitted,machine.deleted',
  );
  await plane.agent('after', ['enrol'], await plane.enrolmentToken());
  await eventually('the program was told', () => Promise.resolve(receiver.received.length > 0), 30_000);
  const [first] = receiver.received;
  const notice = new Webhook(secret).verify(first!.body, { ...first!.headers }) as {
    type: string;
    data: { machine: string };
  };
  expect(notice.type).toBe('machine.admitted');

  // Of the one that was there before, it is told what happens from now on.
  const others = async () =>
    (await rollcall<MachineList>('machines')).machines.filter(({ id }) => id !== notice.data.machine);
  await eventually('both are listed', async () => (await others()).length === 1);
  const [other] = (await others()) as [MachineView];
  await rollcall('machines', 'delete', other.id, '--yes');
  await rollcall('webhooks', 'test', webhook.id);
  await eventually('it was told of both', () => Promise.resolve(new Set(receiver.ids()).size === 3), 30_000);

  const delivered = async () => {
    const { deliveries } = await rollcall<WebhookDeliveryList>('webhooks', 'deliveries', webhook.id.slice(0, 8));
    return deliveries.map(({ id, type, machine, state }) => ({ id, type, machine, state }));
  };
  await eventually('all is settled', async () => (await delivered()).every(({ state }) => state === 'delivered'));
  const settled = await delivered();
  expect(settled.map(({ type, machine }) => [type, machine])).toEqual(
    expect.arrayContaining([
      ['machine.admitted', notice.data.machine],
      ['machine.deleted', other.id],
      ['webhook.test', null],
    ]),
  );
  expect(settled.map(({ id }) => id).toSorted()).toEqual([...new Set(receiver.ids())].toSorted());

  const { output } = await plane.cli('webhooks');
  expect(output).toContain(`127.0.0.1:${receiver.port}`);
  expect(output).not.toContain('theirs');
});
