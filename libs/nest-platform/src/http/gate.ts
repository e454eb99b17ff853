import { Refusal } from '@rollcall/decider';
import type { FastifyInstance } from 'fastify';
import type { Socket } from 'node:net';
import type { Drain } from './drain.js';

/** Seconds after which another instance, or this one's successor, will have taken over. */
const RETRY_AFTER_DRAIN = 2;

/** The connections that a server has accepted, with those on which nothing was asked yet. */
export type OpenConnections = {
  readonly count: number;
  /** Ends all of them, whatever they are doing. */
  end(): void;
};

/** No text of ours holds a NUL, and PostgreSQL takes none: a name with one is nobody's. */
const NUL = '%00';

/** Answers `/healthz` even while it drains: the process is alive, it only takes no more work. */
const LIVENESS_PATH = '/healthz';

/** What every request passes before anything of ours looks at it. */
export const installGate = (
  instance: FastifyInstance,
  { drain, connections, keepAliveBudget }: { drain: Drain; connections: OpenConnections; keepAliveBudget: number },
): void => {
  instance.addHook('onRequest', (request, reply, done) => {
    reply.headers({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
    if (drain.draining) {
      reply.header('connection', 'close');
      if (request.url !== LIVENESS_PATH) {
        done(new Refusal('unavailable', { retryAfter: RETRY_AFTER_DRAIN, detail: 'This instance is stopping.' }));
        return;
      }
    } else if (connections.count > keepAliveBudget) reply.header('connection', 'close');
    reply.raw.once('close', drain.enter());
    if (request.url.includes(NUL)) {
      done(new Refusal('bad-request'));
      return;
    }
    // Nothing is ever expanded, so a small body cannot become a large one behind the limit.
    const encoding = request.headers['content-encoding'];
    done(encoding !== undefined && encoding !== 'identity' ? new Refusal('unsupported-type') : undefined);
  });
};

/** Keeps count of the connections of a server. */
export const openConnections = (instance: FastifyInstance): OpenConnections => {
  const sockets = new Set<Socket>();
  instance.server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return {
    get count() {
      return sockets.size;
    },
    end: () => {
      for (const socket of sockets) socket.destroy();
    },
  };
};
