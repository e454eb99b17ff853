import { applyDecorators, createParamDecorator, SetMetadata, type ExecutionContext } from '@nestjs/common';
import { ApiBearerAuth } from '@nestjs/swagger';

/** Who may call a route. `anybody`: a caller without a credential, for example with a token in the body. */
export type PrincipalKind = 'machine' | 'person' | 'automation' | 'anybody';

/** Who calls, as the app's `Authenticator` found out. */
export type Principal = { readonly kind: Exclude<PrincipalKind, 'anybody'> };

export const ALLOWED = Symbol('rollcall.allowed');

/** Declares who may call a route (or all routes of a controller). An app with a route that declares nothing does not start. */
export const Allow = (...kinds: [PrincipalKind, ...PrincipalKind[]]): MethodDecorator & ClassDecorator =>
  applyDecorators(
    SetMetadata(ALLOWED, kinds),
    ...kinds.filter((kind) => kind !== 'anybody').map((kind) => ApiBearerAuth(kind)),
  );

/** Finds out who calls. Each app has one; a type and a Nest token in one. */
export abstract class Authenticator {
  /**
   * @param bearer what stands behind `Authorization: Bearer`; null where there is nothing of that form.
   * @throws Refusal with the code that the caller is told.
   */
  abstract authenticate(bearer: string | null, allowed: readonly PrincipalKind[]): Promise<Principal> | Principal;
}

/** Where the guard leaves the principal for `@Caller()`. */
export type WithPrincipal = { principal?: Principal };

/** The principal of a request, for a handler that takes the request whole. @throws Error on a route for `anybody`, which has none. */
export const callerOf = ({ principal }: WithPrincipal): Principal => {
  if (!principal) throw new Error('Nobody is known as the caller on a route that anybody may call');
  return principal;
};

/** Injects the principal of a request into a handler's parameter; a route for `anybody` has none. */
export const Caller = createParamDecorator((_: unknown, context: ExecutionContext): Principal =>
  callerOf(context.switchToHttp().getRequest<WithPrincipal>()),
);
