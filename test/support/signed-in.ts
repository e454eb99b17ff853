import { PinnedClient, type HttpCall } from '@rollcall/pinned-https';
import type { SignInAnswer } from '@rollcall/wire';
import type { OperatorPlane } from './operator-plane.js';

/** An answer whose body is JSON, or null where there is none. */
export type Answered<Body> = { readonly status: number; readonly body: Body };

/** Asks the operator API something. */
export type Ask = <Body>(method: HttpCall['method'], path: string, body?: unknown) => Promise<Answered<Body>>;

/** Signs a person in at a plane, and asks on as that person. (Default: the first one) */
export const askAs = async ({ api, link }: OperatorPlane, person?: string): Promise<Ask> => {
  const client = new PinnedClient({ origin: api.url, pins: api.pins });
  const ask =
    (session: string | null): Ask =>
    async <Body>(method: HttpCall['method'], path: string, body?: unknown): Promise<Answered<Body>> => {
      const answer = await client.request({
        method,
        path,
        headers: {
          ...(session === null ? {} : { authorization: `Bearer ${session}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: answer.status, body: JSON.parse(answer.body || 'null') as Body };
    };
  const secret = new URL(await link(person)).hash.slice(1).split('.')[0];
  const { body } = await ask(null)<SignInAnswer>('POST', '/v1/sessions', { link: secret });
  return ask(body.session);
};
