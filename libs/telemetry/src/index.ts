export { measureAppends, type MeasuredAppends } from './appends.js';
export { NO_METRICS, serveMetrics, type Meter, type Metrics } from './metrics.js';
export { measureRequests, type AnsweredRequest } from './requests.js';
