import { useEffect, useState } from 'preact/hooks';
import { Link, Route, Switch, useLocation } from 'wouter-preact';
import { AccountPage } from './pages/account.js';
import { CodePage } from './pages/code.js';
import { DevicePage } from './pages/device.js';
import { MachinePage } from './pages/machine.js';
import { MachinesPage } from './pages/machines.js';
import { SignInPage } from './pages/sign-in.js';
import { TokenPage } from './pages/token.js';
import { ask, isRefused, onSignedOut, words } from './plane/ask.js';
import { tellTouches } from './plane/touched.js';
import type { MeAnswer } from '@rollcall/wire';

const PLACES = [
  ['/', 'Machines'],
  ['/tokens', 'Add a machine'],
  ['/codes', 'Approve a code'],
] as const;

const AGAIN_MS = 2_000;

/** Whoever is not signed in sees how to sign in, wherever they are; what they came for is there afterwards. */
export const App = () => {
  const [me, setMe] = useState<MeAnswer | null | 'unknown'>('unknown');
  const [path, go] = useLocation();
  const [problem, setProblem] = useState('');
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async () => {
      try {
        setMe(await ask<MeAnswer>('GET', '/v1/me'));
        setProblem('');
      } catch (error) {
        if (isRefused(error, 'not-signed-in')) return setProblem('');
        // Nothing says that nobody is signed in, so nobody is asked to.
        setProblem(words(error));
        timer = setTimeout(() => void look(), AGAIN_MS);
      }
    };
    onSignedOut(() => setMe(null));
    void look();
    return () => clearTimeout(timer);
  }, []);
  const isSignedIn = me !== null && me !== 'unknown';
  useEffect(() => (isSignedIn ? tellTouches(document) : undefined), [isSignedIn]);
  const signOut = async () => {
    setProblem('');
    try {
      await ask('DELETE', '/v1/sessions/current');
      setMe(null);
    } catch (error) {
      if (!isRefused(error, 'not-signed-in')) setProblem(words(error));
    }
  };

  if (me === 'unknown')
    return (
      <main class="narrow" aria-busy={problem === ''}>
        <p role="alert" class="problem">
          {problem}
        </p>
      </main>
    );
  if (me === null || path === '/sign-in')
    return (
      <SignInPage
        signedIn={(who) => {
          setMe(who);
          if (path === '/sign-in') go('/', { replace: true });
        }}
      />
    );
  return (
    <>
      <header class="bar">
        <Link href="/" class="brand">
          Rollcall
        </Link>
        <nav>
          {PLACES.map(([href, name]) => (
            <Link key={href} href={href} aria-current={path === href ? 'page' : undefined}>
              {name}
            </Link>
          ))}
        </nav>
        <span class="me">
          <Link href="/account" aria-current={path === '/account' ? 'page' : undefined}>
            {me.person.name}
          </Link>{' '}
          <button type="button" class="plain" onClick={() => void signOut()}>
            Sign out
          </button>
        </span>
        {problem && (
          <p role="alert" class="problem">
            {problem}
          </p>
        )}
      </header>
      <Switch>
        <Route path="/" component={MachinesPage} />
        <Route path="/tokens" component={TokenPage} />
        <Route path="/codes" component={CodePage} />
        <Route path="/device" component={DevicePage} />
        <Route path="/account">
          <AccountPage name={me.person.name} />
        </Route>
        <Route path="/machines/:id">{({ id }) => <MachinePage key={id} id={id} />}</Route>
        <Route>
          <main>
            <h1>There is nothing here</h1>
            <p>
              <Link href="/">All machines</Link>
            </p>
          </main>
        </Route>
      </Switch>
    </>
  );
};
