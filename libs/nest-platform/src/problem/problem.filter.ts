import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { problemOf } from './problem-document.js';
import { sendProblem } from './send-problem.js';

/** The only exception filter: whatever a handler, guard or pipe throws becomes a problem document (RFC 9457). */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(private readonly logger: Logger) {}

  catch(error: unknown, host: ArgumentsHost): FastifyReply {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    return sendProblem(problemOf(error, request.id), { error, request, reply, logger: this.logger });
  }
}
