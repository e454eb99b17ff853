import type { DynamicModule } from '@nestjs/common';
import { LoggerModule } from 'nestjs-pino';
import type { Logger } from 'pino';

/**
 * Gives what Nest itself has to say to our logger. The line per answer is the HTTP server's own, with the request's id; a middleware that
 * kept a logger per request for lines that nobody writes was a tenth of what a check costs (docs/performance.md).
 */
export const loggingModule = (logger: Logger): DynamicModule =>
  LoggerModule.forRoot({ pinoHttp: { logger }, forRoutes: [] });
