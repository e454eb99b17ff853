import {
  applyDecorators,
  Injectable,
  UseInterceptors,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { ApiHeader, ApiResponse } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { map, type Observable } from 'rxjs';
import { entityTagOf, hasAlready } from './entity-tag.js';

/** A client may keep it, and asks each time whether it still holds. */
const ASK_AGAIN = 'private, no-cache';

@Injectable()
class ConditionalInterceptor implements NestInterceptor<object> {
  intercept(context: ExecutionContext, next: CallHandler<object>): Observable<object | undefined> {
    const http = context.switchToHttp();
    const ifNoneMatch = http.getRequest<FastifyRequest>().headers['if-none-match'];
    const reply = http.getResponse<FastifyReply>();
    return next.handle().pipe(
      map((answer) => {
        const tag = entityTagOf(answer);
        reply.headers({ etag: tag, 'cache-control': ASK_AGAIN });
        if (!hasAlready(ifNoneMatch, tag)) return answer;
        reply.code(304);
        return undefined;
      }),
    );
  }
}

/** Answers with an `ETag`, and with 304 and nothing else to who has that answer already. For routes whose answers say `asOf`. */
export const Conditional = (): MethodDecorator =>
  applyDecorators(
    UseInterceptors(ConditionalInterceptor),
    ApiHeader({ name: 'If-None-Match', required: false, description: 'The `ETag` of an answer that is at hand.' }),
    ApiResponse({
      status: 304,
      description:
        'Nothing but `asOf` would be different from the answer with this `ETag`. What it says of `behind` holds, too.',
    }),
  );
