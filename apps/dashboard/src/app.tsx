import { useEffect, useState } from 'preact/hooks';
import { Link, Route, Switch, useLocation } from 'wouter-preact';
import { AccountPage } from './pages/account.js';
import { CodePage } from './pages/code.js';
import { DevicePage } from './pages/device.js';
import { MachinePage } from './pages/machine.js';
import { MachinesPage } from './pages/machines.js';
import { SignInPage } from './pages/sign-in.js';
import { TokenPage } from './pages/token.js';
import { ask, isRefused, onSignedOut } from './plane/ask.js';
import { tellTouches } from './plane/touched.js';
import type { MeAnswer } from '@rollcall/wire';

const PLACES = [
  ['/', 'Machines'],
  ['/tokens', 'Add a machine'],
  ['/codes', 'Approve a code'],
] as const;

/** Whoever is not signed in sees how to sign in, wherever they are; what they came for is there afterwards. */
export const App = () => {
  const [me, setMe] = useState<MeAnswer | null | 'unknown'>('unknown');
  const [path, go] = useLocation();
  useEffect(() => {
    onSignedOut(() => setMe(null));
    ask<MeAnswer>('GET', '/v1/me').then(setMe, (error: unknown) => {
      setMe(null);
      if (!isRefused(error, 'not-signed-in')) throw error;
    });
  }, []);
  const isSignedIn = me !== null && me !== 'unknown';
  useEffect(() => (isSignedIn ? tellTouches(document) : undefined), [isSignedIn]);
  const signOut = async () => {
    await ask('DELETE', '/v1/sessions/current');
    setMe(null);
  };

  if (me === 'unknown') return <main class="quiet" aria-busy="true" />;
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
