import type { AnsweredCode, WaitingCode } from '@rollcall/wire';
import { useState } from 'preact/hooks';
import { ask, words } from '../plane/ask.js';

/** A person types the code that an installation shows, sees what that claims to be, and lets it in or not (O12). No link fills the code in. */
export const CodePage = () => {
  const [typed, setTyped] = useState('');
  const [waiting, setWaiting] = useState<WaitingCode | null>(null);
  const [name, setName] = useState('');
  const [node, setNode] = useState('');
  const [answered, setAnswered] = useState<AnsweredCode | null>(null);
  const [problem, setProblem] = useState('');

  const attempt = (work: () => Promise<void>) => async (event: Event) => {
    event.preventDefault();
    setProblem('');
    try {
      await work();
    } catch (error) {
      setProblem(words(error));
    }
  };
  const lookUp = attempt(async () => {
    setAnswered(null);
    setWaiting(await ask<WaitingCode>('POST', '/v1/codes/look-up', { body: { code: typed } }));
  });
  const answer = (how: 'approve' | 'refuse', code: string) =>
    attempt(async () => {
      const body = {
        commandId: crypto.randomUUID(),
        code,
        ...(how === 'approve' && name.trim() !== '' ? { name: name.trim() } : {}),
        ...(how === 'approve' && node.trim() !== '' ? { node: node.trim() } : {}),
      };
      setAnswered(await ask<AnsweredCode>('POST', `/v1/codes/${how}`, { body }));
      setWaiting(null);
      setTyped('');
      setName('');
      setNode('');
    });

  return (
    <main class="narrow">
      <h1>Let an installation in</h1>
      {waiting === null ? (
        <form onSubmit={(event) => void lookUp(event)}>
          <label for="code">The code that it shows</label>
          <input
            id="code"
            class="code"
            required
            maxLength={20}
            autocomplete="off"
            spellcheck={false}
            placeholder="XXXX-XXXX"
            value={typed}
            onInput={({ currentTarget }) => setTyped(currentTarget.value)}
          />
          <p role="alert" class="problem">
            {problem}
          </p>
          <button type="submit">Look</button>
        </form>
      ) : (
        <form onSubmit={(event) => void answer('approve', waiting.code)(event)}>
          <p>
            <b class="code">{waiting.code}</b> waits until {new Date(waiting.expiresAt).toLocaleTimeString()}.
          </p>
          <fieldset class="claims">
            <legend>It says of itself, which proves nothing</legend>
            <dl>
              {CLAIMS.map(([field, label]) => (
                <div key={field}>
                  <dt>{label}</dt>
                  <dd>{waiting.claims[field] === null ? 'nothing' : `“${waiting.claims[field]}”`}</dd>
                </div>
              ))}
            </dl>
          </fieldset>
          <p>Let it in only if you see this very code on the machine in front of you. It becomes a machine of yours.</p>
          <label for="as">Name, or nothing: then it says its own</label>
          <input
            id="as"
            maxLength={64}
            autocomplete="off"
            value={name}
            onInput={({ currentTarget }) => setName(currentTarget.value)}
          />
          <label for="instead-of">
            In place of a machine of yours, by its name: that one is deleted for good. Or nothing
          </label>
          <input
            id="instead-of"
            maxLength={256}
            autocomplete="off"
            value={node}
            onInput={({ currentTarget }) => setNode(currentTarget.value)}
          />
          <p role="alert" class="problem">
            {problem}
          </p>
          <div class="buttons">
            <button type="submit">Let it in</button>
            <button type="button" class="danger" onClick={(event) => void answer('refuse', waiting.code)(event)}>
              Refuse
            </button>
            <button type="button" class="plain" onClick={() => setWaiting(null)}>
              Another code
            </button>
          </div>
        </form>
      )}
      <p role="status">
        {answered === null
          ? ''
          : answered.answer === 'approved'
            ? `${answered.code} is approved: the installation joins when it asks next, within some seconds.${answered.replaces === null ? '' : ' The machine that it replaces is deleted.'}`
            : `${answered.code} is refused: nobody joins with it.`}
      </p>
    </main>
  );
};

const CLAIMS = [
  ['hostname', 'Hostname'],
  ['agentVersion', 'Agent'],
  ['platform', 'Platform'],
  ['arch', 'Architecture'],
] as const;
