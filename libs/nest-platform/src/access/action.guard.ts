import type { CanActivate, ExecutionContext } from '@nestjs/common';
import type { ModuleRef, Reflector } from '@nestjs/core';
import { verdictOn, type Action } from '@rollcall/authorisation';
import { Refusal } from '@rollcall/decider';
import type { FastifyRequest } from 'fastify';
import { ACTION, Authenticator, type Principal, type WithPrincipal } from './action.js';

/** Lets nobody through to a route that does not declare what it does, and asks the one table whether the caller may. */
export class ActionGuard implements CanActivate {
  // What is declared never changes, and there is one authenticator: neither is looked up again for each request.
  // By controller and handler: a method that two controllers inherit may be declared differently by each.
  private readonly declared = new Map<Function, Map<Function, Action>>();
  private authenticator: Authenticator | null = null;

  constructor(
    private readonly reflector: Reflector,
    private readonly modules: ModuleRef,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const action = this.actionOf(context);
    if (verdictOn(action, { kind: 'nobody' }) === 'yes') return true;
    const request = context.switchToHttp().getRequest<FastifyRequest & WithPrincipal>();
    this.authenticator ??= this.modules.get<Authenticator, Authenticator>(Authenticator, { strict: false });
    const { authenticator } = this;
    const admit = (principal: Principal): true => {
      const verdict = verdictOn(action, principal);
      // A credential of another kind is told what a stranger is told.
      if (verdict === 'no') throw authenticator.unknown();
      if (verdict !== 'yes') throw new Refusal(verdict);
      request.principal = principal;
      return true;
    };
    const principal = authenticator.authenticate(authenticator.credentialOf(request), request);
    return principal instanceof Promise ? principal.then(admit) : admit(principal);
  }

  private actionOf(context: ExecutionContext): Action {
    const [controller, handler] = [context.getClass(), context.getHandler()];
    const known = this.declared.get(controller)?.get(handler);
    if (known) return known;
    const action = this.reflector.getAllAndOverride<Action | undefined>(ACTION, [handler, controller]);
    if (!action) throw new Error(`${controller.name}.${handler.name} does not declare what it does`);
    const ofController = this.declared.get(controller) ?? new Map<Function, Action>();
    this.declared.set(controller, ofController.set(handler, action));
    return action;
  }
}
