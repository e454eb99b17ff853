export { Authenticator, Caller, callerOf, Does } from './access/action.js';
export { bearerOf } from './access/bearer.js';
export type { CredentialCarrier, Principal, WithPrincipal } from './access/action.js';
export { routesOf } from './access/routes.js';
export type { DeclaredRoute } from './access/routes.js';
export {
  readDatabase,
  readGapSeconds,
  readShortWindows,
  readLogLevel,
  readMetrics,
  readTls,
  readTlsUnlessProxied,
  readTraces,
} from './config/service-settings.js';
export type { MetricsSettings, TracesSettings } from './config/service-settings.js';
export { HealthModule } from './health/health.module.js';
export type { ReadinessCheck } from './health/health.module.js';
export { recordReadiness, requireMigrations } from './health/record-database.js';
export type { RecordDatabase } from './health/record-database.js';
export { Conditional } from './http/conditional.js';
export { endEvent, eventText, sendEvents } from './http/event-stream.js';
export type { ServerSentEvent } from './http/event-stream.js';
export { BYTES_MEDIA_TYPE, bytesOf, TakesBytes } from './http/bytes-body.js';
export { FORM_MEDIA_TYPE, TakesForm } from './http/form-body.js';
export { startHttpsApp } from './http/https-app.js';
export type { HttpsApp, HttpsAppOptions } from './http/https-app.js';
export { HTTP_LIMITS } from './http/limits.js';
export type { HttpLimits } from './http/limits.js';
export { listen } from './http/listen.js';
export type { Place } from './http/listen.js';
export { createLogger, LOG_LEVELS } from './logging/logger.js';
export type { LogLevel } from './logging/logger.js';
export { openMetrics } from './metrics/open-metrics.js';
export { ApiProblems } from './openapi/api-problems.js';
export { describedRoutes, openApiDocument } from './openapi/openapi-document.js';
export { runApp } from './run-app.js';
export type { Running } from './run-app.js';
export { openTraces } from './traces/open-traces.js';
export { STRICT_BODY, TOLERANT_BODY } from './validation/body-pipes.js';
export { bodyCheck } from './validation/body-check.js';
export type { Logger } from 'pino';
