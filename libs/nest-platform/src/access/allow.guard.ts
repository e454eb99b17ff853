import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { ModuleRef, Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { ALLOWED, Authenticator, type PrincipalKind, type WithPrincipal } from './allow.js';

/** Lets nobody through to a route that does not declare who may call it, and finds out who calls the others. */
export class AllowGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly modules: ModuleRef,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const allowed = this.reflector.getAllAndOverride<readonly PrincipalKind[] | undefined>(ALLOWED, [
      context.getHandler(),
      context.getClass(),
    ]);
    if (!allowed)
      throw new Error(`${context.getClass().name}.${context.getHandler().name} does not declare who may call it`);
    if (allowed.includes('anybody')) return true;
    const request = context.switchToHttp().getRequest<FastifyRequest & WithPrincipal>();
    const authenticator = this.modules.get(Authenticator, { strict: false });
    request.principal = await authenticator.authenticate(bearerOf(request.headers.authorization), allowed);
    return true;
  }
}

/** The credential in an `Authorization` header (RFC 6750); null where there is none of that form. */
export const bearerOf = (header: string | undefined): string | null =>
  /^Bearer +([A-Za-z0-9\-._~+/]+=*)$/i.exec(header ?? '')?.[1] ?? null;
