import type { AccountList, ProviderAnswer } from '@rollcall/wire';
import { useEffect, useState } from 'preact/hooks';
import { ask, words } from '../plane/ask.js';
import { leaveForProvider, problemIn } from '../plane/provider.js';

/** How a person signs in beside links: the accounts at an identity provider that are theirs. */
export const AccountPage = ({ name }: { readonly name: string }) => {
  const [provider, setProvider] = useState<ProviderAnswer['provider']>(null);
  const [accounts, setAccounts] = useState<AccountList['accounts'] | null>(null);
  const [problem, setProblem] = useState(() => problemIn(location.search));

  const attempt = async (work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      setProblem(words(error));
    }
  };
  const load = async () => setAccounts((await ask<AccountList>('GET', '/v1/accounts')).accounts);
  useEffect(() => {
    history.replaceState(null, '', location.pathname);
    void attempt(async () => {
      setProvider((await ask<ProviderAnswer>('GET', '/v1/provider')).provider);
      await load();
    });
  }, []);
  const unlink = (id: string) =>
    attempt(async () => {
      setProblem('');
      await ask('DELETE', `/v1/accounts/${id}`);
      await load();
    });

  return (
    <main class="narrow" aria-busy={accounts === null}>
      <h1>{name}</h1>
      <p role="alert" class="problem">
        {problem}
      </p>
      <h2>Accounts with which you sign in</h2>
      {accounts?.length === 0 && <p>None: you sign in with links.</p>}
      <ul class="plain">
        {accounts?.map(({ id, provider: host, linkedAt }) => (
          <li key={id}>
            <span>
              One at <b>{host}</b>, linked on {new Date(linkedAt).toLocaleDateString()}
            </span>
            <button type="button" onClick={() => void unlink(id)}>
              Unlink
            </button>
          </li>
        ))}
      </ul>
      {provider && (
        <button type="button" class="first" onClick={() => void attempt(() => leaveForProvider('/v1/accounts/link'))}>
          Link an account at {provider.name}
        </button>
      )}
    </main>
  );
};
