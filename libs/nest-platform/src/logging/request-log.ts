import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';

/** Writes one line per answer: debug for what went well, info for a refusal, warn for a failure. Never who asked (O2). */
export const logRequests = (instance: FastifyInstance, logger: Logger): void => {
  instance.addHook('onResponse', (request, reply, done) => {
    const { statusCode } = reply;
    const level = statusCode >= 500 ? 'warn' : statusCode >= 400 ? 'info' : 'debug';
    if (!logger.isLevelEnabled(level)) {
      done();
      return;
    }
    logger[level](
      {
        requestId: request.id,
        // Of the few that are followed.
        traceId: request.traced?.traceId,
        method: request.method,
        // The route and not the address that was asked for: a path that does not exist may be anything at all.
        route: request.routeOptions.url ?? null,
        status: statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
      },
      'request',
    );
    done();
  });
};
