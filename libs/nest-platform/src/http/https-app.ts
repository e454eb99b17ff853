import 'reflect-metadata';
import { Module, type DynamicModule, type Type } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, ModuleRef, NestFactory, Reflector } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { TlsSource } from '@rollcall/plane-ca';
import type { AnsweredRequest, Traces } from '@rollcall/telemetry';
import type { Server as HttpsServer } from 'node:https';
import { Logger as NestPinoLogger } from 'nestjs-pino';
import type { Logger } from 'pino';
import { ActionGuard } from '../access/action.guard.js';
import { requireDeclarations } from '../access/routes.js';
import { loggingModule } from '../logging/logging.module.js';
import { ProblemFilter } from '../problem/problem.filter.js';
import { HTTP_LIMITS, type HttpLimits } from './limits.js';
import { listen, type Place } from './listen.js';
import { ProblemFastifyAdapter, secureContextOf, type AdapterOptions } from './problem-fastify.adapter.js';
import { ticketKeysOf } from './session-tickets.js';

/** An app's module with everything around it that all our HTTP apps have. */
export type AppOptions = {
  readonly module: Type | DynamicModule;
  readonly logger: Logger;
  readonly limits?: Partial<HttpLimits>;
  /** Is told each answer; for measurements. */
  readonly answered?: (request: AnsweredRequest) => void;
  /** Follows some requests. (Default: none) */
  readonly traces?: Traces;
  /**
   * For how many seconds a browser that got an answer uses nothing but HTTPS with this host name, whatever the port (RFC 6797); 0: it forgets that.
   * (Default: null, nothing is said)
   */
  readonly httpsOnlySeconds?: number | null;
};

/** The same with where and how it listens. */
export type HttpsAppOptions = AppOptions &
  Place & {
    /** null: plain HTTP, behind a proxy on this host. */
    readonly tls: TlsSource | null;
    /** TLS 1.3 for machines; people's tools may be older. (Default: TLSv1.3) */
    readonly minTls?: 'TLSv1.2' | 'TLSv1.3';
    /**
     * At least 32 bytes that the instances of an app share: a TLS session that began on one is resumed on all of them, and after a restart. For
     * TLS 1.3 only, where it opens nothing that was said. (Default: null, each resumes its own for as long as it runs)
     */
    readonly sessionKey?: Buffer | null;
    /** How long running requests may take after `close()`. (Default: 10,000) */
    readonly drainMs?: number;
  };

/** A running HTTPS app. */
export type HttpsApp = {
  readonly app: NestFastifyApplication;
  /** An origin under which this host reaches it. */
  readonly url: string;
  readonly port: number;
  /** Looks for a newer certificate and shows it to new connections; those that are open are not touched. */
  reloadCertificate(): Promise<void>;
  /** Refuses new requests with 503, lets the running ones finish, then ends. Resolves when nothing is left. */
  close(): Promise<void>;
};

const CERTIFICATE_CHECK_MS = 3_600_000;
const DRAIN_MS = 10_000;
const LINGER_MS = 500;

@Module({})
class RootModule {}

const around = ({ module, logger }: AppOptions): DynamicModule => ({
  module: RootModule,
  imports: [loggingModule(logger), module],
  providers: [
    { provide: APP_FILTER, useFactory: () => new ProblemFilter(logger) },
    {
      provide: APP_GUARD,
      inject: [Reflector, ModuleRef],
      useFactory: (reflector: Reflector, modules: ModuleRef) => new ActionGuard(reflector, modules),
    },
  ],
});

/**
 * Builds an app without listening: its routes answer `app.inject()`.
 *
 * @throws Error when a route does not declare who may call it.
 */
export const createApp = async (
  options: AppOptions,
  tls: AdapterOptions['tls'] | null = null,
): Promise<{ app: NestFastifyApplication; adapter: ProblemFastifyAdapter }> => {
  const limits = { ...HTTP_LIMITS, ...options.limits };
  const { logger, answered, traces, httpsOnlySeconds = null } = options;
  const adapter = new ProblemFastifyAdapter({
    logger,
    limits,
    httpsOnlySeconds,
    ...(answered ? { answered } : {}),
    ...(traces ? { traces } : {}),
    ...(tls ? { tls } : {}),
  });
  const app = await NestFactory.create<NestFastifyApplication>(around(options), adapter, {
    bodyParser: false,
    bufferLogs: true,
    abortOnError: false,
  });
  try {
    app.useLogger(app.get(NestPinoLogger));
    requireDeclarations(app);
    await app.init();
    await adapter.getInstance().ready();
  } catch (error) {
    await app.close();
    throw error;
  }
  return { app, adapter };
};

/**
 * Builds an app and serves it over HTTPS (or, behind a proxy, over HTTP) until `close()`; the certificate is looked at every hour.
 *
 * @throws Error naming the port and its setting when the port is taken or not permitted.
 */
export const startHttpsApp = async (options: HttpsAppOptions): Promise<HttpsApp> => {
  const { tls: source, host, logger, minTls = 'TLSv1.3', sessionKey = null, drainMs = DRAIN_MS } = options;
  const terms = source && { source, minVersion: minTls, sessionKey };
  const { app, adapter } = await createApp(options, terms);
  const port = await listen(app, options);

  const reloadCertificate = async (): Promise<void> => {
    if (!terms) return;
    const server = adapter.getHttpServer<HttpsServer>();
    // The day may have changed.
    if (sessionKey) server.setTicketKeys(ticketKeysOf(sessionKey, new Date()));
    try {
      if (!(await terms.source.refresh())) return;
      server.setSecureContext(secureContextOf(terms));
      logger.info('a new server certificate is in use');
    } catch (error) {
      logger.error({ err: error }, 'the new server certificate cannot be used; the old one stays');
    }
  };
  const certificateTimer = setInterval(() => void reloadCertificate(), CERTIFICATE_CHECK_MS);

  const shutDown = async (): Promise<void> => {
    clearInterval(certificateTimer);
    const deadline = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      deadline.resolve();
      adapter.connections.end();
    }, drainMs);
    await Promise.race([adapter.drain.begin(), deadline.promise]);
    // All are answered; who is still connected after a moment is in the middle of asking, or never asked for anything.
    const lingering = setTimeout(() => adapter.connections.end(), LINGER_MS);
    try {
      await app.close();
    } finally {
      clearTimeout(timer);
      clearTimeout(lingering);
    }
  };
  let closed: Promise<void> | null = null;
  return {
    app,
    url: originOf(source ? 'https' : 'http', host, port),
    port,
    reloadCertificate,
    close: () => (closed ??= shutDown()),
  };
};

const originOf = (scheme: 'http' | 'https', host: string, port: number): string => {
  const reachable = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  return `${scheme}://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
};
