import { RouteConfig } from '@nestjs/platform-fastify';
import { Refusal } from '@rollcall/decider';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { HttpLimits } from './limits.js';

/** The one media type of a body that is not JSON. */
export const BYTES_MEDIA_TYPE = 'application/octet-stream';

/** Seconds after which one of the uploads that are under way will be over. */
const RETRY_AFTER_UPLOADS = 5;

/**
 * Declares that a route takes bytes instead of JSON: up to `HttpLimits.bytesBody`, and on all such routes together no more at a time than
 * `HttpLimits.bytesBodies`. Routes that do not declare it refuse them unread.
 */
export const TakesBytes = (): MethodDecorator => RouteConfig({ takesBytes: true });

/** The bytes of a body. @throws Refusal `unsupported-type` where the body was of another type. */
export const bytesOf = (body: unknown): Buffer => {
  if (!Buffer.isBuffer(body))
    throw new Refusal('unsupported-type', { detail: `The body must be ${BYTES_MEDIA_TYPE}.` });
  return body;
};

const takesBytes = ({ routeOptions }: FastifyRequest): boolean =>
  (routeOptions.config as { readonly takesBytes?: boolean }).takesBytes === true;

/** Whether the type would find our parser; also a spelling that the server reads more leniently than we would. */
const isBytes = ({ headers }: FastifyRequest): boolean => {
  const type = headers['content-type'] ?? '';
  return type !== JSON_MEDIA_TYPE && type.trim().toLowerCase().startsWith(BYTES_MEDIA_TYPE);
};
const JSON_MEDIA_TYPE = 'application/json';

/** Takes bytes on the routes that declare it. A body is in memory until its request is answered, so their number is bounded. */
export const acceptBytesWhereDeclared = (instance: FastifyInstance, limits: HttpLimits): void => {
  let underWay = 0;
  instance.addHook('onRequest', (request, reply, done) => {
    // Nearly every request ends here, before the description of its route is put together.
    if (!isBytes(request)) {
      done();
      return;
    }
    if (!takesBytes(request)) {
      done(new Refusal('unsupported-type'));
      return;
    }
    if (underWay >= limits.bytesBodies) {
      // The rest of this request is not read, so nothing else can come on its connection.
      reply.header('connection', 'close');
      done(new Refusal('slow-down', { retryAfter: RETRY_AFTER_UPLOADS }));
      return;
    }
    underWay += 1;
    reply.raw.once('close', () => (underWay -= 1));
    done();
  });
  instance.addContentTypeParser<Buffer>(
    BYTES_MEDIA_TYPE,
    { parseAs: 'buffer', bodyLimit: limits.bytesBody },
    (_request, body, done) => done(null, body),
  );
};
