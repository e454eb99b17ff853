import { describe, expect, it } from '@jest/globals';
import { whereToBegin, type Beginning, type Findings } from './where-to-begin.js';

const EPOCH = '0192f0c4-0000-7000-8000-000000000001';
const at = (number: number, epoch = EPOCH) => ({ epoch, number: BigInt(number) });
const begin = (over: Partial<Findings>) =>
  whereToBegin({ epoch: EPOCH, cursor: at(7), published: at(7), lacking: null, unrecorded: false, head: 9n, ...over });
const from = (after: number): Beginning => ({ after: BigInt(after), recordLostItsTail: false, feedLostItsTail: false });

describe('a relay that begins', () => {
  it('goes on from its cursor, and from the start where it has none (I6)', () => {
    expect(begin({})).toEqual(from(7));
    expect(begin({ cursor: null, published: null })).toEqual(from(0));
  });

  it('repeats what was published and not counted any more', () => expect(begin({ published: at(8) })).toEqual(from(7)));

  it('goes on from its cursor with a feed that is empty, or has batches of another epoch only', () => {
    expect(begin({ published: null })).toEqual(from(7));
    expect(begin({ published: at(3, 'another') })).toEqual(from(7));
    expect(begin({ published: at(30, 'another') })).toEqual(from(7));
  });

  it('goes on from its number in an epoch that is new', () =>
    expect(begin({ cursor: at(7, 'another'), published: at(7, 'another') })).toEqual(from(7)));

  it('publishes again what the feed has lost, its newest batch included (I6)', () =>
    expect(begin({ published: at(4) })).toEqual({ after: 3n, recordLostItsTail: false, feedLostItsTail: true }));

  it('publishes again from the first event that the feed has lost, whether it has lost batches or not (I6, fault row 14)', () => {
    const lost = (after: bigint) => ({ after, recordLostItsTail: false, feedLostItsTail: true });
    expect(begin({ lacking: 3n })).toEqual(lost(2n));
    expect(begin({ published: null, lacking: 7n })).toEqual(lost(6n));
    expect(begin({ published: at(5), lacking: 3n })).toEqual(lost(2n));
    expect(begin({ published: at(3), lacking: 5n })).toEqual(lost(2n));
    expect(begin({ lacking: 8n })).toEqual(from(7));
  });

  it('finds that the record has lost its tail when more was published than is recorded (C24)', () => {
    expect(begin({ published: at(10) })).toEqual({ after: 7n, recordLostItsTail: true, feedLostItsTail: false });
    expect(begin({ published: at(9) })).toEqual(from(7));
  });

  it('finds the same by a ledger event that the record does not have, where no batch is held any more (C24)', () =>
    expect(begin({ published: null, unrecorded: true })).toEqual({
      after: 7n,
      recordLostItsTail: true,
      feedLostItsTail: false,
    }));

  it('publishes everything again when its cursor is ahead of the record: nobody knows what was published of it (I6)', () => {
    const anew = { after: 0n, recordLostItsTail: true, feedLostItsTail: false };
    expect(begin({ cursor: at(10), published: at(3) })).toEqual(anew);
    expect(begin({ cursor: at(10), published: at(12) })).toEqual(anew);
    expect(begin({ cursor: at(10, 'another'), published: null })).toEqual(anew);
  });
});
