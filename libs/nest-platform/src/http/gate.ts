import { Refusal } from '@rollcall/decider';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Socket } from 'node:net';
import type { WithPrincipal } from '../access/action.js';
import type { Drain } from './drain.js';
import type { HttpLimits } from './limits.js';

/** Seconds after which another instance, or this one's successor, will have taken over. */
const RETRY_AFTER_DRAIN = 2;

/** The connections that a server has accepted, with those on which nothing was asked yet. */
export type OpenConnections = {
  /** Ends all of them, whatever they are doing. */
  end(): void;
};

/** No text of ours holds a NUL, and PostgreSQL takes none: a name with one is nobody's. */
const NUL = '%00';

/** Answers `/healthz` even while it drains: the process is alive, it only takes no more work. */
const LIVENESS_PATH = '/healthz';

/** Headers of every answer. `httpsOnlySeconds`: see `AppOptions`. */
export const everyAnswer = (httpsOnlySeconds: number | null): Readonly<Record<string, string>> => ({
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  ...(httpsOnlySeconds === null ? {} : { 'strict-transport-security': `max-age=${httpsOnlySeconds}` }),
});

/** What every request passes before anything of ours looks at it, and every answer on its way out. */
export const installGate = (
  instance: FastifyInstance,
  { drain, limits, headers }: { drain: Drain; limits: HttpLimits; headers: Readonly<Record<string, string>> },
): void => {
  const kept = new Set<Socket>();
  /** Keeps a connection if the budget allows it. */
  const keep = (socket: Socket): boolean => {
    if (kept.size >= limits.keepAliveBudget) return false;
    kept.add(socket);
    socket.once('close', () => kept.delete(socket));
    return true;
  };
  instance.addHook('onRequest', (request, reply, done) => {
    reply.headers(headers);
    if (drain.draining) {
      reply.header('connection', 'close');
      if (request.url !== LIVENESS_PATH) {
        done(new Refusal('unavailable', { retryAfter: RETRY_AFTER_DRAIN, detail: 'This instance is stopping.' }));
        return;
      }
    }
    reply.raw.once('close', drain.enter());
    if (request.url.includes(NUL)) {
      done(new Refusal('bad-request'));
      return;
    }
    // Nothing is ever expanded, so a small body cannot become a large one behind the limit.
    const encoding = request.headers['content-encoding'];
    done(encoding !== undefined && encoding !== 'identity' ? new Refusal('unsupported-type') : undefined);
  });
  // The budget is for those whom we know: strangers could use it up by asking once in a while for what anybody may ask.
  instance.addHook('onSend', (request, reply, _payload, done) => {
    const { socket } = request.raw;
    if (!kept.has(socket) && !(isKnown(request, reply) && keep(socket))) reply.header('connection', 'close');
    done();
  });
};

/** Whether a caller showed something that we gave out: a credential, or a token that was taken. */
const isKnown = (request: FastifyRequest & WithPrincipal, { statusCode }: FastifyReply): boolean =>
  statusCode < 400 && (request.principal !== undefined || request.method === 'POST');

/** Keeps count of the connections of a server. */
export const openConnections = (instance: FastifyInstance): OpenConnections => {
  const sockets = new Set<Socket>();
  instance.server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return {
    end: () => {
      for (const socket of sockets) socket.destroy();
    },
  };
};
