import { applyDecorators, Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { ApiResponse } from '@nestjs/swagger';
import { Refusal } from '@rollcall/decider';
import { OAUTH_ERRORS, PROBLEMS, type OauthErrorAnswer, type OauthErrorCode, type ProblemCode } from '@rollcall/wire';
import type { FastifyReply } from 'fastify';

/** What our refusals are called in OAuth (RFC 6749, section 5.2; RFC 8628, section 3.5). */
const NAMES: Partial<Record<ProblemCode, OauthErrorCode>> = {
  'code-pending': 'authorization_pending',
  'asked-too-soon': 'slow_down',
  'access-denied': 'access_denied',
  // Expired, used and unknown look the same.
  'code-refused': 'expired_token',
  'slow-down': 'temporarily_unavailable',
  unavailable: 'temporarily_unavailable',
};

/** The OAuth error that a refusal is, and its status: 400, but for what has to wait. */
export const oauthErrorOf = ({
  code,
  details,
}: Refusal): { readonly status: number; readonly error: OauthErrorCode } => {
  const error = NAMES[code as ProblemCode];
  if (error) return { status: PROBLEMS[code as ProblemCode].status, error };
  const { errors } = details as { readonly errors?: readonly { readonly field: string }[] };
  const isGrant = errors?.every(({ field }) => field === 'grant_type') === true;
  return { status: 400, error: isGrant ? 'unsupported_grant_type' : 'invalid_request' };
};

/** Answers the refusals of OAuth routes in the words of OAuth. What is our fault is a problem document there as well. */
@Catch(Refusal)
export class OauthErrors implements ExceptionFilter<Refusal> {
  catch(refusal: Refusal, host: ArgumentsHost): FastifyReply {
    const { status, error } = oauthErrorOf(refusal);
    const { retryAfter } = refusal.details;
    const answer: OauthErrorAnswer = { error, error_description: OAUTH_ERRORS[error] };
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    if (typeof retryAfter === 'number') void reply.header('retry-after', String(retryAfter));
    return reply.code(status).header('cache-control', 'no-store').send(answer);
  }
}

/** Documents them. */
export const ApiOauthErrors = (...errors: readonly OauthErrorCode[]): MethodDecorator =>
  applyDecorators(
    ApiResponse({
      status: 400,
      description: errors.map((error) => `\`${error}\`: ${OAUTH_ERRORS[error]}`).join(' '),
      schema: {
        type: 'object',
        required: ['error'],
        properties: { error: { type: 'string', enum: [...errors] }, error_description: { type: 'string' } },
      },
    }),
  );
