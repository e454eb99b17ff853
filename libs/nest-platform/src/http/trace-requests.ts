import type { TracedRequest, Traces } from '@rollcall/telemetry';
import type { FastifyInstance } from 'fastify';
import { answeredBy } from './tell-answers.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** null for nearly all. */
    traced: TracedRequest | null;
  }
}

/** Probes come every few seconds and tell nothing by their traces. */
const PROBES: ReadonlySet<string | undefined> = new Set(['/healthz', '/readyz']);

/** Follows some requests from their head to their answer. What they say of themselves, `traceparent` too, is not looked at. */
export const traceRequests = (instance: FastifyInstance, traces: Traces): void => {
  instance.decorateRequest('traced', null);
  instance.addHook('onRequest', (request, _reply, done) => {
    if (traces.sampled() && !PROBES.has(request.routeOptions.url)) request.traced = traces.begin();
    done();
  });
  // Not before the body was read: what its chunks call back belongs to the connection.
  instance.addHook('preHandler', (request, _reply, done) => {
    if (request.traced === null) done();
    else request.traced.run(done);
  });
  instance.addHook('onResponse', (request, reply, done) => {
    request.traced?.end(answeredBy(request, reply));
    done();
  });
};
