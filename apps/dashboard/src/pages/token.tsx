import type { IssueTokenAnswer } from '@rollcall/wire';
import { useState } from 'preact/hooks';
import { ask, words } from '../plane/ask.js';
import { encodeToken, hashOf, makeTokenSecret } from '../plane/token.js';

const LIVES: readonly (readonly [number, string])[] = [
  [900, '15 minutes'],
  [3_600, 'an hour'],
  [86_400, 'a day'],
];

/** Makes an enrolment token in this browser. It is shown once; the plane knows its hash. */
export const TokenPage = () => {
  const [name, setName] = useState('');
  const [expiresIn, setExpiresIn] = useState(LIVES[0]![0]);
  const [issued, setIssued] = useState<{ readonly text: string; readonly expiresAt: string } | null>(null);
  const [problem, setProblem] = useState('');
  const [isCopied, setCopied] = useState(false);

  const issue = async (event: Event) => {
    event.preventDefault();
    setProblem('');
    setCopied(false);
    try {
      const secret = makeTokenSecret();
      const { token, machineApi, pins } = await ask<IssueTokenAnswer>('POST', '/v1/enrolment-tokens', {
        body: {
          commandId: crypto.randomUUID(),
          tokenHash: await hashOf(secret),
          ...(name.trim() === '' ? {} : { name: name.trim() }),
          expiresIn,
        },
      });
      setIssued({ text: encodeToken({ address: machineApi, pins, secret }), expiresAt: token.expiresAt });
    } catch (error) {
      setProblem(words(error));
    }
  };
  const copy = async () => {
    await navigator.clipboard.writeText(issued?.text ?? '');
    setCopied(true);
  };
  return (
    <main class="narrow">
      <h1>Add a machine</h1>
      <form onSubmit={(event) => void issue(event)}>
        <label for="name">Name, or nothing: then it says its own</label>
        <input
          id="name"
          maxLength={64}
          autocomplete="off"
          value={name}
          onInput={({ currentTarget }) => setName(currentTarget.value)}
        />
        <label for="life">The token can be used for</label>
        <select id="life" value={expiresIn} onChange={({ currentTarget }) => setExpiresIn(Number(currentTarget.value))}>
          {LIVES.map(([seconds, text]) => (
            <option key={seconds} value={seconds}>
              {text}
            </option>
          ))}
        </select>
        <p role="alert" class="problem">
          {problem}
        </p>
        <button type="submit">Make a token</button>
      </form>
      {issued && (
        <section aria-live="polite">
          <h2>Shown once</h2>
          <p>
            It admits one machine until {new Date(issued.expiresAt).toLocaleTimeString()}. On that machine, run{' '}
            <code>rollcall-agent enrol</code> and paste it there.
          </p>
          <output class="token">{issued.text}</output>
          <button type="button" onClick={() => void copy()}>
            {isCopied ? 'Copied' : 'Copy'}
          </button>
        </section>
      )}
    </main>
  );
};
