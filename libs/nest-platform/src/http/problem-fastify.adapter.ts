import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { TlsSource } from '@rollcall/plane-ca';
import { NO_TRACES, type AnsweredRequest, type Traces } from '@rollcall/telemetry';
import { PROBLEM_MEDIA_TYPE } from '@rollcall/wire';
import type { FastifyHttpsOptions, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { randomUUID } from 'node:crypto';
import type { ServerOptions as HttpServerOptions } from 'node:http';
import type { Server as HttpsServer, ServerOptions as HttpsServerOptions } from 'node:https';
import type { SecureVersion } from 'node:tls';
import type { Logger } from 'pino';
import { logRequests } from '../logging/request-log.js';
import { answerClientError } from '../problem/client-error.js';
import { problemOf, problemOfRequest } from '../problem/problem-document.js';
import { sendProblem } from '../problem/send-problem.js';
import { acceptBytesWhereDeclared } from './bytes-body.js';
import { Drain } from './drain.js';
import { everyAnswer, installGate, openConnections, type OpenConnections } from './gate.js';
import { acceptFormsWhereDeclared } from './form-body.js';
import { acceptJsonOnly } from './json-body.js';
import type { HttpLimits } from './limits.js';
import { SESSION_LIFE, ticketKeysOf } from './session-tickets.js';
import { tellAnswers } from './tell-answers.js';
import { traceRequests } from './trace-requests.js';
import { knownRoutes } from './unknown-route.js';

/** What the adapter is made of. Without `tls` it never listens: it only answers injected requests. */
export type AdapterOptions = {
  readonly logger: Logger;
  readonly limits: HttpLimits;
  /** Is told each answer. */
  readonly answered?: (request: AnsweredRequest) => void;
  /** Follows some requests. */
  readonly traces?: Traces;
  readonly tls?: TlsTerms;
  /** See `AppOptions`. */
  readonly httpsOnlySeconds?: number | null;
};

/** What a TLS server shows, and under which terms. */
export type TlsTerms = {
  readonly source: TlsSource;
  readonly minVersion: SecureVersion;
  /** See `HttpsAppOptions`. */
  readonly sessionKey: Buffer | null;
};

/** The same in the words of a TLS server, as of now. */
export const secureContextOf = ({ source: { material }, minVersion, sessionKey }: TlsTerms): HttpsServerOptions => ({
  cert: material.certificatePem,
  key: material.keyPem,
  minVersion,
  ...(sessionKey ? sessionsUnder(sessionKey) : {}),
});

const sessionsUnder = (sessionKey: Buffer): HttpsServerOptions => ({
  // Node would make it of the command line, which need not be the same everywhere.
  sessionIdContext: 'rollcall',
  sessionTimeout: SESSION_LIFE,
  ticketKeys: ticketKeysOf(sessionKey, new Date()),
});

/** Fastify as this plane uses it: limits before parsing, and no error that is not a problem document. */
export class ProblemFastifyAdapter extends FastifyAdapter {
  readonly drain = new Drain();
  readonly connections: OpenConnections;

  constructor(options: AdapterOptions) {
    // Its option types are those of another Fastify generic; the options themselves are the same.
    super(serverOptions(options) as never);
    const { logger, limits } = options;
    const instance = this.getInstance<FastifyInstance>();
    instance.decorate('stopping', this.drain.signal);
    instance.decorate('streamFailed', (error: unknown, requestId: string) =>
      logger.error({ err: error, requestId }, 'a stream could not go on'),
    );
    instance.server.maxConnections = limits.connections;
    instance.server.on('checkExpectation', (_request, response) => {
      const { problem } = problemOfRequest(Object.assign(new Error('Expect'), { statusCode: 417 }));
      response
        .writeHead(problem.status, { 'content-type': PROBLEM_MEDIA_TYPE, connection: 'close' })
        .end(JSON.stringify(problem));
    });
    if (options.traces && options.traces !== NO_TRACES) traceRequests(instance, options.traces);
    logRequests(instance, logger);
    if (options.answered) tellAnswers(instance, options.answered);
    this.connections = openConnections(instance);
    installGate(instance, { drain: this.drain, limits, headers: everyAnswer(options.httpsOnlySeconds ?? null) });
    acceptJsonOnly(instance, limits);
    acceptBytesWhereDeclared(instance, limits);
    acceptFormsWhereDeclared(instance, limits);
    const unknownRoute = knownRoutes(instance);
    instance.setErrorHandler((error: Error, request, reply) =>
      sendProblem(problemOfRequest(error, request.id), { error, request, reply, logger }),
    );
    instance.setNotFoundHandler((request: FastifyRequest, reply: FastifyReply) => {
      const { error, allow } = unknownRoute(request);
      if (allow !== null) reply.header('allow', allow);
      return sendProblem(problemOf(error, request.id), { error, request, reply, logger });
    });
  }

  // Nest would answer what happens outside its handlers in a form of its own, and without the code that says what it was.
  override setErrorHandler(): ReturnType<FastifyAdapter['setErrorHandler']> {
    return this.getInstance();
  }

  override setNotFoundHandler(): ReturnType<FastifyAdapter['setNotFoundHandler']> {
    return this.getInstance();
  }
}

const serverOptions = ({
  logger,
  limits,
  tls,
  httpsOnlySeconds = null,
}: AdapterOptions): Partial<FastifyHttpsOptions<HttpsServer>> => ({
  bodyLimit: limits.bodyBytes,
  requestTimeout: limits.requestTimeoutMs,
  connectionTimeout: limits.stalledTimeoutMs,
  keepAliveTimeout: limits.keepAliveTimeoutMs,
  // The gate refuses whoever comes while an instance ends, and says when to come again; Fastify's own answer does not.
  return503OnClosing: false,
  genReqId: () => randomUUID(),
  // One path, one answer: no route is reachable under a second spelling.
  routerOptions: { ignoreTrailingSlash: false, caseSensitive: true, maxParamLength: 200 },
  // A path that no router can read passes no hook: here is what the gate says to strangers.
  frameworkErrors: (error, request, reply) => {
    reply.headers({ ...everyAnswer(httpsOnlySeconds), connection: 'close' });
    sendProblem(problemOfRequest(error, request.id), { error, request, reply, logger });
  },
  clientErrorHandler: answerClientError,
  ...(tls
    ? {
        https: {
          ...secureContextOf(tls),
          handshakeTimeout: limits.handshakeTimeoutMs,
          ...patienceOf(limits),
        },
      }
    : { http: patienceOf(limits) }),
});

/** What Node's server does of its own accord with those who are slow or say too much. */
const patienceOf = (limits: HttpLimits): HttpServerOptions => ({
  maxHeaderSize: limits.headerBytes,
  headersTimeout: limits.headersTimeoutMs,
  requestTimeout: limits.requestTimeoutMs,
  connectionsCheckingInterval: limits.checkingIntervalMs,
  // Node's own answer to a request without a host has no body; here it is an ordinary request.
  requireHostHeader: false,
});
