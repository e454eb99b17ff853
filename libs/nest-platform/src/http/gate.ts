import { Refusal } from '@rollcall/decider';
import type { FastifyInstance } from 'fastify';
import type { Drain } from './drain.js';

/** Seconds after which another instance, or this one's successor, will have taken over. */
const RETRY_AFTER_DRAIN = 2;

/** How many connections are open, as far as this server accepted them. */
export type OpenConnections = { readonly count: number };

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
    // Nothing is ever expanded, so a small body cannot become a large one behind the limit.
    const encoding = request.headers['content-encoding'];
    done(encoding !== undefined && encoding !== 'identity' ? new Refusal('unsupported-type') : undefined);
  });
};

/** Counts the connections of a server. */
export const countConnections = (instance: FastifyInstance): OpenConnections => {
  const connections = { count: 0 };
  instance.server.on('connection', (socket) => {
    connections.count += 1;
    socket.once('close', () => {
      connections.count -= 1;
    });
  });
  return connections;
};
