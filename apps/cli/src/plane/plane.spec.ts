import { describe, expect, it } from '@jest/globals';
import { PROBLEMS, type Problem, type ProblemCode } from '@rollcall/wire';
import { EXIT, Failure } from '../failure.js';
import { Plane, PlaneAway } from './plane.js';
import type { Transport, TransportAnswer, TransportRequest } from './transport.js';

const problem = (code: ProblemCode, more: Partial<Problem> = {}, retryAfter?: number): TransportAnswer => ({
  status: PROBLEMS[code].status,
  ...(retryAfter === undefined ? {} : { retryAfter }),
  body: { type: '', title: PROBLEMS[code].title, status: PROBLEMS[code].status, code, ...more },
});
const planeOf = (...answers: (TransportAnswer | Error)[]) => {
  const seen: TransportRequest[] = [];
  const transport: Transport = (request) => {
    seen.push(request);
    const answer = answers.shift() ?? new Error('asked once too often');
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  };
  return { plane: new Plane('https://plane', transport, 'rco_x'), seen };
};
const never = new AbortController().signal;
const failureOf = async (answer: TransportAnswer): Promise<Failure> => {
  const failure: unknown = await planeOf(answer)
    .plane.read('/v1/me', never)
    .catch((error: unknown) => error);
  if (!(failure instanceof Failure)) throw new Error('it did not fail');
  return failure;
};

describe('what a refusal comes to (U6)', () => {
  it.each([
    [problem('not-signed-in'), EXIT.notSignedIn, 'rollcall login'],
    [problem('session-not-fresh'), EXIT.notSignedIn, 'Run `rollcall login` again'],
    [problem('link-refused'), EXIT.notSignedIn, 'cannot be used'],
    [problem('machine-not-found'), EXIT.notFound, 'no such machine'],
    [problem('read-model-not-found'), EXIT.notFound, 'no such read model'],
    [
      problem('name-ambiguous', {
        candidates: [
          { id: 'a1', name: 'box' },
          { id: 'a2', name: null },
        ],
      }),
      EXIT.failed,
      'a1 (box), a2 (unnamed)',
    ],
    [
      problem('invalid-body', { errors: [{ field: 'name', message: 'must not be empty' }] }),
      EXIT.usage,
      'name must not be empty',
    ],
    [{ status: 502, body: '<html>' }, EXIT.failed, 'answered 502, but not as a plane does'],
    [{ status: 404, body: { code: 'nonsense' } }, EXIT.failed, 'not as a plane does'],
  ] as const)('%#: one sentence and a documented exit code', async (answer, exitCode, words) => {
    const failure = await failureOf(answer);
    expect(failure.exitCode).toBe(exitCode);
    expect(failure.message).toContain(words);
  });
});

describe('writes', () => {
  it('repeats a write with the same body when no answer came, so it happens once (O20)', async () => {
    const { plane, seen } = planeOf(new Error('reset'), {
      status: 200,

      body: { ok: true },
    });
    await expect(plane.write('PATCH', '/v1/machines/a', { commandId: 'c' })).resolves.toEqual({ ok: true });
    expect(seen.map(({ body }) => body)).toEqual([{ commandId: 'c' }, { commandId: 'c' }]);
  });

  it('repeats a write that the plane could not record, after as long as it asked for', async () => {
    const { plane, seen } = planeOf(problem('unavailable', {}, 0), {
      status: 204,

      body: undefined,
    });
    await plane.write('DELETE', '/v1/machines/a');
    expect(seen).toHaveLength(2);
  });

  it('does not repeat what was refused, nor what must happen once', async () => {
    const refused = planeOf(problem('machine-not-found'));
    await expect(refused.plane.write('DELETE', '/v1/machines/a')).rejects.toThrow('no such machine');
    expect(refused.seen).toHaveLength(1);
    const once = planeOf(new Error('reset'));
    await expect(once.plane.writeOnce('POST', '/v1/sessions')).rejects.toThrow(PlaneAway);
    expect(once.seen).toHaveLength(1);
  });
});
