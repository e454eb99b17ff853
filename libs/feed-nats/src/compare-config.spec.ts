import { expect, it } from '@jest/globals';
import { BATCH_STREAM, BATCH_SUBJECT, EVENT_STREAM } from '@rollcall/feed';
import { compareConfig } from './compare-config.js';
import { consumerSettings, DEFAULT_SIZES, streamSettings } from './settings.js';

const [events, batches] = streamSettings(DEFAULT_SIZES);

it('finds nothing where a server has what was asked for, whatever it has beside it', () =>
  expect(compareConfig('X', { max_age: 1, subjects: ['a'] }, { subjects: ['a'], max_age: 1, metadata: {} })).toEqual(
    [],
  ));

it('names each setting that differs, what it is, and what it should be', () =>
  expect(
    compareConfig('stream X', { max_age: 60_000_000_000, subjects: ['a'], name: 'X' }, { max_age: 0, subjects: ['b'] }),
  ).toEqual([
    'max_age of stream X is 0, and should be 60000000000',
    'subjects of stream X is ["b"], and should be ["a"]',
    'name of stream X is not set, and should be "X"',
  ]));

it('takes a setting that the server left out for false, 0 or empty, and for nothing else', () => {
  for (const wanted of [false, 0, '', undefined]) expect(compareConfig('X', { a: wanted }, {})).toEqual([]);
  for (const wanted of [true, 1, -1, 'b', [], {}]) expect(compareConfig('X', { a: wanted }, {})).toHaveLength(1);
});

it('finds what the server has although it must not be set', () =>
  expect(compareConfig('X', consumerSettings('a', 1), { ...consumerSettings('a', 1), deliver_subject: 'b' })).toEqual([
    'deliver_subject of X is "b", and should be ""',
  ]));

it('keeps a day of ledger events and an hour of batches, each within its bytes, and drops the oldest', () => {
  const nanosPerHour = 3_600_000_000_000;
  expect(events).toMatchObject({ name: EVENT_STREAM, max_age: 24 * nanosPerHour, max_bytes: 2_147_483_648 });
  expect(batches).toMatchObject({ name: BATCH_STREAM, max_age: nanosPerHour, max_bytes: 1_073_741_824 });
  for (const stream of [events, batches])
    expect(stream).toMatchObject({ discard: 'old', storage: 'file', deny_delete: true, deny_purge: true });
});

it('delivers to a reader what is new until it is acknowledged, however often that takes', () =>
  expect(consumerSettings('machines', 30_000)).toMatchObject({
    ack_policy: 'explicit',
    ack_wait: 30_000_000_000,
    max_deliver: -1,
    max_ack_pending: 64,
    deliver_policy: 'new',
    filter_subject: BATCH_SUBJECT,
  }));
