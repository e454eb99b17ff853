import { expect, it } from '@jest/globals';
import { tellPresence, type Look } from './presence-line.js';

const present: Look = { isPresent: true, name: 'web-1', sentence: 'present' };
const silent: Look = { isPresent: false, name: 'web-1', sentence: 'Not running.' };

/** What is told of these looks; the last of them ends it. */
const toldOf = async (...looks: readonly (Look | Error)[]): Promise<readonly Look[]> => {
  const stop = new AbortController();
  const told: Look[] = [];
  const rest = [...looks];
  const look = (): Promise<Look> => {
    const next = rest.shift();
    if (next === undefined) {
      stop.abort();
      return Promise.reject(new Error('cut short'));
    }
    return next instanceof Error ? Promise.reject(next) : Promise.resolve(next);
  };
  await tellPresence(look, {
    tell: (line) => told.push(line),
    signal: stop.signal,
    every: { present: 0, awaited: 0 },
  });
  return told;
};

it('tells what has changed, and nothing twice (U8)', async () => {
  expect(await toldOf(silent, silent, present, present, silent)).toEqual([silent, present, silent]);
});

it('goes on after a look that fails, and says why it failed (U8)', async () => {
  const told = await toldOf(present, new Error('the database system is in recovery mode'), present);
  expect(told).toHaveLength(3);
  expect(told[1]).toMatchObject({ isPresent: false, sentence: expect.stringContaining('in recovery mode') });
  expect(told[2]).toEqual(present);
});

it('does not tell what failed because of the stop', async () => {
  expect(await toldOf(present)).toEqual([present]);
});
