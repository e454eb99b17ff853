import type { MeAnswer, ProviderAnswer } from '@rollcall/wire';
import { useEffect, useState } from 'preact/hooks';
import { ask, words } from '../plane/ask.js';
import { leaveForProvider, problemIn } from '../plane/provider.js';

/** The secret of a sign-in link: what stands behind `#`, up to the pin, which only the command line needs. */
export const secretIn = (link: string): string => (link.split('#')[1] ?? link).split('.')[0]!.trim();

/** Turns a link into a session: the one that was followed, or one that is pasted. A browser that follows it asks first: a link works once. */
export const SignInPage = ({ signedIn }: { readonly signedIn: (me: MeAnswer) => void }) => {
  const [link, setLink] = useState(() => (location.hash.length > 1 ? location.href : ''));
  const [problem, setProblem] = useState(() => problemIn(location.search));
  const [provider, setProvider] = useState<ProviderAnswer['provider']>(null);
  const [isBusy, setBusy] = useState(false);
  // It stays in no history and no bookmark.
  useEffect(() => {
    history.replaceState(null, '', location.pathname);
    // Whoever cannot be told of another way still has the link.
    ask<ProviderAnswer>('GET', '/v1/provider').then(
      (answer) => setProvider(answer.provider),
      () => undefined,
    );
  }, []);

  const signIn = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    try {
      signedIn(await ask<MeAnswer>('POST', '/v1/sessions/browser', { body: { link: secretIn(link) } }));
    } catch (error) {
      setProblem(words(error));
      setBusy(false);
    }
  };
  const leave = async () => {
    setBusy(true);
    try {
      await leaveForProvider('/v1/provider/sign-in');
    } catch (error) {
      setProblem(words(error));
      setBusy(false);
    }
  };
  return (
    <main class="narrow">
      <h1>Rollcall</h1>
      {provider && (
        <div class="way">
          <button type="button" class="first" disabled={isBusy} onClick={() => void leave()}>
            Sign in with {provider.name}
          </button>
          <p class="faint">Or, the first time, with a link:</p>
        </div>
      )}
      <form onSubmit={(event) => void signIn(event)}>
        <label for="link">Sign-in link</label>
        <input
          id="link"
          type="password"
          autocomplete="off"
          required
          value={link}
          onInput={({ currentTarget }) => setLink(currentTarget.value)}
          aria-describedby="link-help"
        />
        <p id="link-help" class="faint">
          It works once. Whoever runs the plane makes one with <code>rollcall-setup sign-in-link</code>;{' '}
          <code>npm start</code> prints one.
        </p>
        <p role="alert" class="problem">
          {problem}
        </p>
        <button type="submit" disabled={isBusy}>
          Sign in
        </button>
      </form>
    </main>
  );
};
