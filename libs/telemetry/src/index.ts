export { measureAppends, type MeasuredAppends } from './appends.js';
export { exportTraces, type ExportedTraces, type TraceLog } from './export-traces.js';
export { NO_METRICS, serveMetrics, type Meter, type Metrics } from './metrics.js';
export { measureRequests, type AnsweredRequest } from './requests.js';
export { measureWebhookAttempts } from './webhook-attempts.js';
export { NO_TRACES, type TracedRequest, type Traces } from './traces.js';
