import type { AnsweredLogin } from '@rollcall/wire';
import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { ask, words } from '../plane/ask.js';
import { CommandIds } from '../plane/command-ids.js';

/** A code that waits, and what whoever shows it claims to be. */
export type Waiting = {
  readonly code: string;
  readonly expiresAt: string;
  readonly claims: Readonly<Record<string, string | null>>;
};

type Kind<Answered extends AnsweredLogin> = {
  /** The routes: `/look-up`, `/approve` and `/refuse` below it. */
  readonly route: string;
  readonly title: string;
  readonly label: string;
  /** Fields of the claims, with what people call them. */
  readonly claims: readonly (readonly [field: string, label: string])[];
  readonly caution: string;
  readonly approve: string;
  readonly said: Readonly<Record<Answered['answer'], (answered: Answered) => string>>;
  /** What else goes with an approval. */
  readonly approval?: () => object;
  readonly answered?: () => void;
  /** Fields for that. */
  readonly fields?: ComponentChildren;
  readonly children?: ComponentChildren;
};

/** A person types a short code, sees what claims to be behind it, and says yes or no (O12). No link fills the code in. */
export const TypedCode = <Answered extends AnsweredLogin>({ route, approval, ...kind }: Kind<Answered>) => {
  const [typed, setTyped] = useState('');
  const [waiting, setWaiting] = useState<Waiting | null>(null);
  const [answered, setAnswered] = useState<Answered | null>(null);
  const [problem, setProblem] = useState('');
  const ids = useRef(new CommandIds());

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
    setWaiting(await ask<Waiting>('POST', `${route}/look-up`, { body: { code: typed } }));
  });
  const answer = (how: 'approve' | 'refuse', code: string) =>
    attempt(async () => {
      const said = { code, ...(how === 'approve' ? approval?.() : {}) };
      const body = { commandId: ids.current.of({ how, ...said }), ...said };
      setAnswered(await ask<Answered>('POST', `${route}/${how}`, { body }));
      setWaiting(null);
      setTyped('');
      kind.answered?.();
    });

  return (
    <main class="narrow">
      <h1>{kind.title}</h1>
      {waiting === null ? (
        <form onSubmit={(event) => void lookUp(event)}>
          <label for="code">{kind.label}</label>
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
              {kind.claims.map(([field, label]) => (
                <div key={field}>
                  <dt>{label}</dt>
                  <dd>{waiting.claims[field] == null ? 'nothing' : `“${waiting.claims[field]}”`}</dd>
                </div>
              ))}
            </dl>
          </fieldset>
          <p>{kind.caution}</p>
          {kind.fields}
          <p role="alert" class="problem">
            {problem}
          </p>
          <div class="buttons">
            <button type="submit">{kind.approve}</button>
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
        {answered === null ? '' : `${answered.code} ${kind.said[answered.answer as Answered['answer']](answered)}`}
      </p>
      {kind.children}
    </main>
  );
};
