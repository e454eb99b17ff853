import { expect, it } from '@jest/globals';
import type { RelayCursor } from '../cursor.js';

const EPOCH = '0192f0c4-0000-7000-8000-000000000001';
const ANOTHER = '0192f0c4-0000-7000-8000-000000000002';
const at = (number: bigint, epoch = EPOCH) => ({ epoch, number });

/** What a relay relies on, whatever keeps its cursor. @param open a cursor that was never moved */
export const cursorContract = (open: () => Promise<RelayCursor>): void => {
  it('is nowhere before it is moved, and then where it was moved to, whatever the size of the number', async () => {
    const cursor = await open();
    expect(await cursor.read()).toBeNull();
    expect(await cursor.move(null, at(0n))).toBe(true);
    expect(await cursor.read()).toEqual(at(0n));
    expect(await cursor.move(at(0n), at(9_007_199_254_740_993n))).toBe(true);
    expect(await cursor.read()).toEqual(at(9_007_199_254_740_993n));
  });

  it('moves from where it is, and from nowhere else (I6)', async () => {
    const cursor = await open();
    expect(await cursor.move(at(0n), at(1n))).toBe(false);
    expect(await cursor.move(null, at(1n))).toBe(true);
    expect(await cursor.move(null, at(2n))).toBe(false);
    expect(await cursor.move(at(0n), at(2n))).toBe(false);
    expect(await cursor.move(at(1n, ANOTHER), at(2n))).toBe(false);
    expect(await cursor.read()).toEqual(at(1n));
  });

  it('moves back, and into another epoch', async () => {
    const cursor = await open();
    await cursor.move(null, at(5n));
    expect(await cursor.move(at(5n), at(3n, ANOTHER))).toBe(true);
    expect(await cursor.read()).toEqual(at(3n, ANOTHER));
  });

  it('lets one of many that move it from one place win', async () => {
    const cursor = await open();
    const first = await Promise.all([1n, 2n, 3n].map((number) => cursor.move(null, at(number))));
    expect(first.filter(Boolean)).toHaveLength(1);
    const from = await cursor.read();
    const second = await Promise.all([4n, 5n, 6n].map((number) => cursor.move(from, at(number))));
    expect(second.filter(Boolean)).toHaveLength(1);
  });
};
