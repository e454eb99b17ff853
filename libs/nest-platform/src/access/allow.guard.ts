import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { ModuleRef, Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { ALLOWED, Authenticator, type Principal, type PrincipalKind, type WithPrincipal } from './allow.js';

/** Lets nobody through to a route that does not declare who may call it, and finds out who calls the others. */
export class AllowGuard implements CanActivate {
  // What is declared never changes, and there is one authenticator: neither is looked up again for each request.
  // By controller and handler: a method that two controllers inherit may be declared differently by each.
  private readonly declared = new Map<Function, Map<Function, readonly PrincipalKind[]>>();
  private authenticator: Authenticator | null = null;

  constructor(
    private readonly reflector: Reflector,
    private readonly modules: ModuleRef,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const allowed = this.allowedTo(context);
    if (allowed.includes('anybody')) return true;
    const request = context.switchToHttp().getRequest<FastifyRequest & WithPrincipal>();
    this.authenticator ??= this.modules.get<Authenticator, Authenticator>(Authenticator, { strict: false });
    const principal = this.authenticator.authenticate(bearerOf(request.headers.authorization), allowed);
    if (principal instanceof Promise) return principal.then((found) => admit(request, found));
    return admit(request, principal);
  }

  private allowedTo(context: ExecutionContext): readonly PrincipalKind[] {
    const [controller, handler] = [context.getClass(), context.getHandler()];
    const known = this.declared.get(controller)?.get(handler);
    if (known) return known;
    const allowed = this.reflector.getAllAndOverride<readonly PrincipalKind[] | undefined>(ALLOWED, [
      handler,
      controller,
    ]);
    if (!allowed) throw new Error(`${controller.name}.${handler.name} does not declare who may call it`);
    const ofController = this.declared.get(controller) ?? new Map<Function, readonly PrincipalKind[]>();
    this.declared.set(controller, ofController.set(handler, allowed));
    return allowed;
  }
}

const admit = (request: WithPrincipal, principal: Principal): true => {
  request.principal = principal;
  return true;
};

/** The credential in an `Authorization` header (RFC 6750); null where there is none of that form. */
export const bearerOf = (header: string | undefined): string | null =>
  /^Bearer +([A-Za-z0-9\-._~+/]+=*)$/i.exec(header ?? '')?.[1] ?? null;
