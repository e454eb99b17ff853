import { applyDecorators } from '@nestjs/common';
import { ApiResponse } from '@nestjs/swagger';
import { PROBLEM_MEDIA_TYPE, PROBLEM_TYPE_PREFIX, PROBLEMS, type ProblemCode } from '@rollcall/wire';

/** Documents the refusals of a route; several of one status share its entry. */
export const ApiProblems = (...codes: readonly ProblemCode[]): MethodDecorator & ClassDecorator =>
  applyDecorators(
    ...[...Map.groupBy(codes, (code) => PROBLEMS[code].status)].map(([status, ofStatus]) =>
      ApiResponse({
        status,
        description: ofStatus.map((code) => `\`${code}\`: ${PROBLEMS[code].title}`).join('. '),
        content: {
          [PROBLEM_MEDIA_TYPE]: {
            schema: {
              type: 'object',
              required: ['type', 'title', 'status', 'code'],
              properties: {
                type: { type: 'string', enum: ofStatus.map((code) => `${PROBLEM_TYPE_PREFIX}${code}`) },
                title: { type: 'string' },
                status: { type: 'integer', enum: [status] },
                code: { type: 'string', enum: [...ofStatus] },
                detail: { type: 'string' },
                requestId: { type: 'string' },
              },
            },
          },
        },
      }),
    ),
  );
