import { randomInt } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { amount } from '../../support/amount.js';
import { bundled, type Bundled } from '../../support/bundled.js';
import { FanOut, RATE } from '../../support/fan-out.js';
import { eventually, type Running } from '../../support/processes.js';
import type { Task } from '../programs/projector.js';
import { expectUnharmed } from '../unharmed.js';

type Step = { readonly loop: string; readonly step: Task['steps'][number] };
/** Where something was done and not noted yet: a process that ends here leaves work that is half known. */
const HALF_KNOWN: readonly Step[] = [
  { loop: 'presence', step: 'taken' },
  { loop: 'relay', step: 'published' },
  { loop: 'history', step: 'applied' },
  { loop: 'presence', step: 'committed' },
];
/** Between any two of these a process can end. What a victim had taken comes again after a while only, so each loop is hit twice at most. */
const STEPS = amount<readonly Step[]>({
  usual: HALF_KNOWN,
  whole: [
    { loop: 'relay', step: 'begun' },
    ...HALF_KNOWN,
    { loop: 'relay', step: 'read' },
    { loop: 'relay', step: 'moved' },
    { loop: 'readiness', step: 'acknowledged' },
  ],
});

type StandingStill = {
  readonly loop: string;
  readonly steps: Task['steps'];
  readonly name: string;
  readonly place: 'read_model' | 'relay_cursor';
};
const RELAY: StandingStill = { loop: 'relay', steps: ['published'], name: 'relay', place: 'relay_cursor' };
/** `fan-out-slow` stops a read model in the middle of a batch in each submission. */
const STANDING_STILL = amount<readonly StandingStill[]>({
  usual: [RELAY],
  whole: [
    // What follows on an applied batch is mostly news as well. On a busy machine the record was quicker, and there is nothing to apply.
    { loop: 'history', steps: ['committed', 'acknowledged', 'taken'], name: 'read model history', place: 'read_model' },
    RELAY,
  ],
});

describe(`under a load of ${RATE} checks per second, a projector`, () => {
  let stage: FanOut;
  let program: Bundled;
  /** Who has the work after the victims. */
  let heir: Running | null = null;
  beforeAll(async () => {
    program = await bundled(join(import.meta.dirname, '../programs/projector.ts'));
    stage = await FanOut.start();
    // Alone, so that each step is one of the process that is to end at it.
    for (const projector of stage.projectors) await projector.stop();
  }, 120_000);
  afterAll(async () => {
    await program[Symbol.asyncDispose]();
    await stage.close();
  }, 60_000);

  /** Starts one that ends, or stands still, at a step. */
  const startVictim = (task: Task) =>
    stage.plane.processes.start(
      `projector with ${JSON.stringify(task)}`,
      process.execPath,
      [program.path, JSON.stringify(task)],
      {
        cwd: join(import.meta.dirname, '../../..'),
        env: { ...stage.plane.environment, ...stage.settings, ROLLCALL_PROJECTOR_PORT: '0' },
      },
    );

  const reached = async (loop: string) => (await stage.progress())[loop] ?? 0;

  it('that is killed -9 after each step of relaying and applying is followed by one that goes on as if nothing had been (U2, I6, I7, fault rows 7 and 8)', async () => {
    const aftermath = await stage.during(async () => {
      for (const { loop, step } of STEPS) {
        const time = step === 'begun' ? 1 : 1 + randomInt(5);
        const victim = await startVictim({ loop, steps: [step], time, signal: 'SIGKILL' });
        expect([victim.name, await victim.exited]).toEqual([victim.name, { code: null, signal: 'SIGKILL' }]);
      }
      heir = await stage.plane.startProjector(stage.settings);
    });
    expectUnharmed(aftermath);
  }, 240_000);

  it.each(STANDING_STILL)(
    'that is stopped with its $name at $steps, and goes on when another one has taken over, finds its $place moved (U2, I6, I7, fault row 9)',
    async ({ loop, steps, name, place }) => {
      const before = await stage.overtaken(place);
      const wasOvertaken = async () => (await stage.overtaken(place)) > before;
      const aftermath = await stage.during(async () => {
        for (let round = 1; round <= 4 && !(await wasOvertaken()); round += 1) {
          await heir?.stop();
          const victim = await startVictim({ loop, steps, time: 20, signal: 'SIGSTOP' });
          await eventually('it stands still', () => standsStill(victim), 60_000);
          const next = (heir = await stage.plane.startProjector(stage.settings));
          await next.waitFor(new RegExp(`"${name}","msg":"leading"`), 60_000);
          const from = await reached(loop);
          await eventually('the next one goes on', async () => (await reached(loop)) > from, 60_000);
          victim.signal('SIGCONT');
          await victim.waitFor(/not leading any more/, 60_000);
          // Any of its loops says so first. This program ends at once when it is told to, and its last transaction has to be over by then.
          await eventually('it finds its place moved', wasOvertaken, 2_000).catch(() => undefined);
          await victim.stop();
        }
      });
      expect(await wasOvertaken()).toBe(true);
      expectUnharmed(aftermath);
    },
    240_000,
  );
});

const standsStill = async ({ pid }: Running) => /\) T /.test(await readFile(`/proc/${pid}/stat`, 'utf8'));
