import { PostgresEventStore } from '@rollcall/event-store-postgres';
import { ensureFirstPerson, issueSignInLink, signInAddress } from '@rollcall/first-person';
import { loadOrCreateAuthority } from '@rollcall/plane-ca';

/** What a sign-in link needs: the record, and what the operator API will be recognised by. */
export type SignInLinkRequest = {
  readonly connectionString: string;
  readonly person: string;
  /** Origin of the operator API. */
  readonly address: string;
  /** Directory of the plane's authority; null where the plane has a public certificate. */
  readonly authority: string | null;
};

/** Registers the first person unless there is one, and answers a one-time link. */
export const makeSignInLink = async ({
  connectionString,
  person,
  address,
  authority,
}: SignInLinkRequest): Promise<string> => {
  const store = await PostgresEventStore.connect({ connectionString, applicationName: 'rollcall setup', readers: 1 });
  try {
    const { personId } = await ensureFirstPerson(store, { name: person });
    const { secret } = await issueSignInLink(store, personId);
    const pins = authority === null ? [] : [(await loadOrCreateAuthority(authority)).pin];
    return signInAddress(secret, { operatorApi: address, pins });
  } finally {
    await store.close();
  }
};
