import type { Meter } from '@opentelemetry/api';

const SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];

/** Measures attempts at webhooks: how long each took, and what came of it, a word of a closed list. */
export const measureWebhookAttempts = (meter: Meter): ((outcome: string, seconds: number) => void) => {
  const durations = meter.createHistogram<{ outcome: string }>('rollcall_webhook_attempt_duration_seconds', {
    description: 'Time that an attempt at a webhook took, by what came of it',
    advice: { explicitBucketBoundaries: SECONDS },
  });
  return (outcome, seconds) => durations.record(seconds, { outcome });
};
