import type { Meter } from '@opentelemetry/api';
import type { GroupCommitOptions } from '@rollcall/event-store';

/** What a store is given and asked, so that its appends are measured. */
export type MeasuredAppends = Required<Pick<GroupCommitOptions, 'onAppend'>> & {
  /** Begins to ask how many decisions wait. */
  watch(store: { queued(): number }): void;
};

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const FACTS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000];

/** Measures the group commit of a store: how long an append takes, how many facts share it, and how many decisions wait. */
export const measureAppends = (meter: Meter): MeasuredAppends => {
  const durations = meter.createHistogram('rollcall_append_duration_seconds', {
    description: 'Time that an append took at the database, its commit included',
    advice: { explicitBucketBoundaries: SECONDS },
  });
  const sizes = meter.createHistogram('rollcall_append_facts', {
    description: 'Facts that shared an append',
    advice: { explicitBucketBoundaries: FACTS },
  });
  const queue = meter.createObservableGauge('rollcall_append_queue_decisions', {
    description: 'Decisions that wait for an append or are in one; new ones are refused at 5,000 waiting',
  });
  return {
    onAppend: ({ facts, ms }) => {
      durations.record(ms / 1_000);
      sizes.record(facts);
    },
    watch: (store) => queue.addCallback((result) => result.observe(store.queued())),
  };
};
