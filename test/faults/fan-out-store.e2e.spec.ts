import { cp, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { BATCH_STREAM, EVENT_STREAM } from '@rollcall/feed';
import { READ_MODELS } from '@rollcall/read-models';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FanOut, RATE } from '../support/fan-out.js';
import { expectUnharmed } from './unharmed.js';

describe(`under a load of ${RATE} checks per second, a store of NATS`, () => {
  let stage: FanOut;
  beforeAll(async () => {
    stage = await FanOut.start();
  }, 120_000);
  afterAll(() => stage.close(), 60_000);

  /** Stops the server, lets something happen to its store, and starts it again. */
  const whileDown = async (happens: (store: string) => Promise<void>) => {
    await stage.nats.server.stop();
    await happens(stage.nats.server.storeDirectory);
    await stage.nats.server.start();
  };
  const wipe = (store: string) => rm(store, { recursive: true });

  it('that was wiped is filled again from where the relay stands (U2, I6, I7, fault row 15)', async () => {
    expectUnharmed(await stage.during(() => whileDown(wipe)));
  }, 120_000);

  it('that was put back to an older copy, as after a power cut, gets again what it had acknowledged (U2, I6, I7, fault row 14)', async () => {
    const copy = join(stage.plane.directory, 'older-store');
    const recordedBefore = (await stage.events()).length;
    const aftermath = await stage.during(async () => {
      await whileDown((store) => cp(store, copy, { recursive: true }));
      await stage.checks(5 * RATE);
      await whileDown(async (store) => {
        await wipe(store);
        await cp(copy, store, { recursive: true });
      });
    });
    expectUnharmed(aftermath);
    // Also for a subscriber who was not there before.
    const stored = await stage.witness.stored();
    expect((await stage.events(recordedBefore)).filter((id) => !stored.has(id))).toEqual([]);
  }, 120_000);

  it.each([
    [
      'a truncated block',
      async (block: string) => {
        const file = await open(block, 'r+');
        await file.truncate(Math.floor((await file.stat()).size / 2));
        await file.close();
      },
    ],
    [
      'flipped bits in a block',
      async (block: string) => {
        const file = await open(block, 'r+');
        const at = Math.floor((await file.stat()).size / 2);
        const { buffer } = await file.read(Buffer.alloc(64), 0, 64, at);
        await file.write(
          buffer.map((byte) => byte ^ 0x55),
          0,
          64,
          at,
        );
        await file.close();
      },
    ],
  ])(
    'with %s is not believed (U2, I6, I7, fault row 16)',
    async (_, damage) => {
      expectUnharmed(
        await stage.during(() =>
          whileDown(async (store) => {
            for (const stream of [BATCH_STREAM, EVENT_STREAM]) await damage(await newestBlock(store, stream));
          }),
        ),
      );
    },
    120_000,
  );

  it('whose consumers and then streams were deleted by hand gets them again (U2, I6, I7, fault row 18)', async () => {
    expectUnharmed(
      await stage.during(async () => {
        const admin = await stage.witness.admin();
        for (const { name } of READ_MODELS) await admin.consumers.delete(BATCH_STREAM, name);
        await stage.checks(3 * RATE);
        for (const stream of [BATCH_STREAM, EVENT_STREAM]) await admin.streams.delete(stream);
      }),
    );
  }, 120_000);
});

/** The file that a stream was last written to. */
const newestBlock = async (store: string, stream: string): Promise<string> => {
  const directory = join(store, 'jetstream', '$G', 'streams', stream, 'msgs');
  const blocks = (await readdir(directory)).filter((name) => name.endsWith('.blk'));
  const [newest = ''] = blocks.toSorted((a, b) => Number.parseInt(b, 10) - Number.parseInt(a, 10));
  const path = join(directory, newest);
  if ((await stat(path)).size === 0) throw new Error(`${path} is empty: there is nothing to damage`);
  return path;
};
