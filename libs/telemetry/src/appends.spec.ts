import { expect, it } from '@jest/globals';
import { measureAppends } from './index.js';
import { recordingMeter } from './testing/index.js';

it('adds up how long appends took and how many facts shared them, and tells how many decisions wait', async () => {
  const { meter, samples } = recordingMeter();
  const { onAppend, watch } = measureAppends(meter);
  let waiting = 7;
  watch({ queued: () => waiting });
  onAppend({ facts: 20, ms: 4 });
  onAppend({ facts: 1, ms: 2 });
  for (const [metric, sum] of [
    ['rollcall_append_facts', 21],
    ['rollcall_append_duration_seconds', 0.006],
  ] as const) {
    expect(await samples(`${metric}_count`)).toEqual([`${metric}_count 2`]);
    expect(await samples(`${metric}_sum`)).toEqual([`${metric}_sum ${sum}`]);
  }
  expect(await samples('rollcall_append_queue_decisions')).toEqual(['rollcall_append_queue_decisions 7']);
  waiting = 0;
  expect(await samples('rollcall_append_queue_decisions')).toEqual(['rollcall_append_queue_decisions 0']);
});
