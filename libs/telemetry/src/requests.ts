import type { Meter } from '@opentelemetry/api';
import type { ProblemCode } from '@rollcall/wire';

/** An answer that was given, as a server of ours tells it. */
export type AnsweredRequest = {
  readonly method: string;
  /** The template of the route, `/v1/machines/:id`; null where nothing is there: the path that was asked for may be anything at all. */
  readonly route: string | null;
  readonly status: number;
  /** The code of the problem document; null for what went well. */
  readonly code: ProblemCode | null;
  readonly seconds: number;
};

type StatusClass = '1xx' | '2xx' | '3xx' | '4xx' | '5xx';

/** Under a millisecond to beyond every deadline of ours. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

const UNAVAILABLE = 503;
/** A probe that is told to wait is nobody whose call was refused. */
const READINESS = '/readyz';

/** Measures what a server of ours answers, by route and class of status. */
export const measureRequests = (meter: Meter): ((answered: AnsweredRequest) => void) => {
  const durations = meter.createHistogram<{ method: string; route: string; status: StatusClass }>(
    'rollcall_http_request_duration_seconds',
    {
      description: 'Time from the head of a request to the end of its answer',
      advice: { explicitBucketBoundaries: SECONDS },
    },
  );
  const unavailable = meter.createCounter('rollcall_http_unavailable_total', {
    description: 'Answers 503: the record could not be reached in time, or this instance was stopping',
  });
  unavailable.add(0);
  return ({ method, route, status, seconds }) => {
    // A method is as free as a path where no route takes it.
    const asked = route === null ? { method: 'any', route: 'none' } : { method, route };
    durations.record(seconds, { ...asked, status: `${Math.floor(status / 100)}xx` as StatusClass });
    if (status === UNAVAILABLE && route !== READINESS) unavailable.add(1);
  };
};
