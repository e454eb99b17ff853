import { randomUUID } from 'node:crypto';
import { token, tokenStream } from '@rollcall/admission';
import { ensureFirstPerson, issueSignInLink, signInAddress } from '@rollcall/first-person';
import { encodeEnrolmentToken, hashOf, makeSecret } from '@rollcall/wire';
import type { Plane } from './plane.js';

/** Whoever starts the plane is its first person. Answers a one-time link with which they sign in. */
export const welcome = async (
  plane: Plane,
  name: string,
): Promise<{ readonly personId: string; readonly link: string }> => {
  const { personId } = await ensureFirstPerson(plane.store, { name });
  const { secret } = await issueSignInLink(plane.store, personId);
  return {
    personId,
    link: signInAddress(secret, { operatorApi: plane.operatorApi.url, pins: plane.operatorApi.pins }),
  };
};

/** An ordinary enrolment token of that person, as `rollcall token issue` makes one. */
export const tokenFrom = async (plane: Plane, personId: string): Promise<string> => {
  const secret = makeSecret('rce');
  await plane.store.decide(
    token,
    { stream: tokenStream(randomUUID()) },
    { type: 'IssueToken', tokenHash: hashOf(secret), owner: personId, name: null, expiresIn: 900 },
    { actor: { kind: 'person', id: personId } },
  );
  return encodeEnrolmentToken({ address: plane.machineApi.url, pins: plane.machineApi.pins, secret });
};
