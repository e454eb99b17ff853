import { applyDecorators, createParamDecorator, SetMetadata, type ExecutionContext } from '@nestjs/common';
import { ApiBearerAuth } from '@nestjs/swagger';
import { kindsFor, type Action, type Asker } from '@rollcall/authorisation';
import type { Refusal } from '@rollcall/decider';
import type { IncomingHttpHeaders } from 'node:http';
import { bearerOf } from './bearer.js';

/** Who calls, as the app's `Authenticator` found out. */
export type Principal = Exclude<Asker, { readonly kind: 'nobody' }>;

export const ACTION = Symbol('rollcall.action');

/**
 * Declares what a route (or all routes of a controller) does; `@rollcall/authorisation` says who may. An app with a route that declares
 * nothing does not start.
 */
export const Does = (action: Action): MethodDecorator & ClassDecorator =>
  applyDecorators(
    SetMetadata(ACTION, action),
    ...kindsFor(action)
      .filter((kind) => kind !== 'nobody')
      .map((kind) => ApiBearerAuth(kind)),
  );

/** What of a request a credential is found in. */
export type CredentialCarrier = { readonly method: string; readonly headers: IncomingHttpHeaders };

/** Finds out who calls. Each app has one; a type and a Nest token in one. */
export abstract class Authenticator {
  /**
   * The credential that a request carries, null where there is none: what stands behind `Authorization: Bearer`, unless an app knows another
   * place as well.
   *
   * @throws Refusal where it must not count
   */
  credentialOf({ headers }: CredentialCarrier): string | null {
    return bearerOf(headers.authorization);
  }

  /**
   * @param credential as `credentialOf` found it
   * @param request that carried it; without one somebody only looks whether it still counts, and nobody uses it
   * @throws Refusal with the code that the caller is told.
   */
  abstract authenticate(credential: string | null, request?: CredentialCarrier): Promise<Principal> | Principal;

  /** What somebody is told whom a route is not for: the same as somebody whom nobody knows. */
  abstract unknown(): Refusal;
}

/** Where the guard leaves the principal for `@Caller()`. */
export type WithPrincipal = { principal?: Principal };

/** The principal of a request, for a handler that takes the request whole. @throws Error on a route for nobody in particular, which has none. */
export const callerOf = ({ principal }: WithPrincipal): Principal => {
  if (!principal) throw new Error('Nobody is known as the caller on a route that takes no credential');
  return principal;
};

/** Injects the principal of a request into a handler's parameter; a route that takes no credential has none. */
export const Caller = createParamDecorator((_: unknown, context: ExecutionContext): Principal =>
  callerOf(context.switchToHttp().getRequest<WithPrincipal>()),
);
