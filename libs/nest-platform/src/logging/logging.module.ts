import type { DynamicModule } from '@nestjs/common';
import { LoggerModule } from 'nestjs-pino';
import type { Logger } from 'pino';

/**
 * Gives what Nest itself has to say to our logger. The line per answer is the HTTP server's own, with the request's id; a middleware that
 * keeps a logger per request would cost each check something for lines that nobody writes.
 */
export const loggingModule = (logger: Logger): DynamicModule =>
  LoggerModule.forRoot({ pinoHttp: { logger }, forRoutes: [] });
