import { Refusal } from '@rollcall/decider';
import type { FastifyInstance, FastifyRequest } from 'fastify';

/** Tells apart a path that does not exist from one that does not take the method; the latter names those it takes (RFC 9110). */
export const knownRoutes = (
  instance: FastifyInstance,
): ((request: FastifyRequest) => { error: Refusal; allow: string | null }) => {
  const routes: { parts: readonly string[]; methods: readonly string[] }[] = [];
  instance.addHook('onRoute', ({ url, method }) => {
    routes.push({ parts: url.split('/'), methods: [method].flat() });
  });
  return (request) => {
    const asked = (request.url.split('?', 1)[0] ?? '').split('/');
    const matching = routes.filter(({ parts }) => matches(parts, asked));
    const allowed = new Set(matching.flatMap(({ methods }) => methods));
    return allowed.size === 0
      ? { error: new Refusal('not-found'), allow: null }
      : { error: new Refusal('method-not-allowed'), allow: [...allowed].sort().join(', ') };
  };
};

const matches = (parts: readonly string[], asked: readonly string[]): boolean =>
  parts.length === asked.length && parts.every((part, index) => part === asked[index] || part.startsWith(':'));
