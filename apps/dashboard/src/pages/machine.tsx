import type { History as NewestLines, HistoryEntry, MachineDetail, MachineView, Why } from '@rollcall/wire';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { nameOf, State } from '../parts/state.js';
import { Ago, useNow } from '../parts/time.js';
import { Generations } from './generations.js';
import { History } from './history.js';
import { ask, isRefused, words } from '../plane/ask.js';

const AGAIN_MS = 5_000;
/** Refused uses of its credential are no facts of the machine itself, so its history is asked for now and then all the same: after so many looks. */
const LOOKS = 6;

/** One machine: what it is, why, what happened to it, and its end. */
export const MachinePage = ({ id }: { readonly id: string }) => {
  const [shown, setShown] = useState<Shown | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const now = useNow();
  useEffect(() => {
    const over = new AbortController();
    let told: { readonly revision: number; readonly presence: string } | null = null;
    let looks = 0;
    const look = async () => {
      try {
        const get = <Answer,>(path: string) => ask<Answer>('GET', `/v1/machines/${id}${path}`, { signal: over.signal });
        const { machine, promise } = await get<MachineDetail>('');
        setShown((before) => before && { ...before, machine, promise });
        setProblem(null);
        // What happened and why is asked again only where something has happened.
        looks += 1;
        if (told?.revision === machine.revision && told.presence === machine.presence && looks < LOOKS) return;
        const [why, history] = await Promise.all([get<Why>('/why'), get<NewestLines>('/history')]);
        setShown({ machine, promise, why, entries: history.entries });
        [told, looks] = [machine, 0];
      } catch (error) {
        if (!over.signal.aborted) setProblem(error);
      }
    };
    void look();
    const timer = setInterval(() => void look(), AGAIN_MS);
    return () => {
      over.abort();
      clearInterval(timer);
    };
  }, [id]);

  if (isRefused(problem, 'machine-not-found'))
    return (
      <main>
        <h1>There is no such machine</h1>
        <p>
          <Link href="/">All machines</Link>
        </p>
      </main>
    );
  return (
    <main class="machine">
      <p>
        <Link href="/">All machines</Link>
      </p>
      <p role="alert" class="problem">
        {problem === null ? '' : words(problem)}
      </p>
      {shown && <Details shown={shown} now={now} />}
    </main>
  );
};

type Shown = Pick<MachineDetail, 'machine' | 'promise'> & {
  readonly why: Why;
  readonly entries: readonly HistoryEntry[];
};

const Details = ({
  shown: { machine, promise, why, entries },
  now,
}: {
  readonly shown: Shown;
  readonly now: number;
}) => (
  <>
    <h1>{nameOf(machine)}</h1>
    <p>
      <State machine={machine} />
    </p>
    <p class="why">{why.sentence}</p>
    <dl class="facts">
      <Fact of="Last contact">
        <Ago at={machine.lastCheckAt} now={now} />
      </Fact>
      <Fact of="Hostname, as it reports">{machine.hostname ?? 'not reported'}</Fact>
      <Fact of="Agent">{[machine.agentVersion, machine.platform].filter(Boolean).join(', ') || 'not reported'}</Fact>
      <Fact of="Labels">
        {Object.entries(machine.labels)
          .map(([key, value]) => `${key}=${value}`)
          .join(', ') || 'none'}
      </Fact>
      <Fact of="Promised presence">
        {promise === null
          ? 'nothing'
          : `${promise.promises.map(({ schedule }) => schedule).join('; ')} (${promise.state})`}
      </Fact>
      <Fact of="Admitted">
        <Ago at={machine.admittedAt} now={now} />
      </Fact>
      <Fact of="Credential">
        {machine.generation === null ? 'not used yet' : `generation ${machine.generation}`}
        {machine.pendingGeneration !== null && `, and ${machine.pendingGeneration} is registered`}
      </Fact>
      {machine.requests.rotation !== null && (
        <Fact of="Newer credential">
          asked for <Ago at={machine.requests.rotation} now={now} />
        </Fact>
      )}
      <Fact of="Machine">
        <code>{machine.id}</code>
      </Fact>
    </dl>
    {machine.blockers.length > 0 && (
      <section>
        <h2>In the way of work</h2>
        <ul>
          {machine.blockers.map(({ code, sentence, fix, since }) => (
            <li key={code}>
              <span class="blocker">{code}</span> {sentence}, since <Ago at={since} now={now} />.{' '}
              <span class="faint">{fix}</span>
            </li>
          ))}
        </ul>
      </section>
    )}
    {machine.refusedClaims && <Claims claims={machine.refusedClaims} now={now} />}
    <Generations id={machine.id} />
    <History id={machine.id} newest={entries} />
    {machine.lifecycle !== 'deleted' && <Deletion machine={machine} />}
  </>
);

const Claims = ({
  claims: { count, last, hostname },
  now,
}: {
  readonly claims: NonNullable<MachineView['refusedClaims']>;
  readonly now: number;
}) => (
  <section>
    <h2>Others claimed to be it</h2>
    <p>
      {count === 1 ? 'A claim was' : `${count} claims were`} refused, the last <Ago at={last} now={now} />
      {hostname !== null && <>, from one that calls itself “{hostname}”</>}. It was set up twice, or anew without its
      credential; deleting this machine lets the other in.
    </p>
  </section>
);

const Fact = ({ of, children }: { readonly of: string; readonly children: preact.ComponentChildren }) => (
  <div>
    <dt>{of}</dt>
    <dd>{children}</dd>
  </div>
);

/** What cannot be taken back is written out by hand first. */
const Deletion = ({ machine }: { readonly machine: MachineView }) => {
  const dialog = useRef<HTMLDialogElement>(null);
  const [typed, setTyped] = useState('');
  const [told, setTold] = useState('');
  const name = nameOf(machine);
  const remove = async (event: Event) => {
    event.preventDefault();
    try {
      await ask('DELETE', `/v1/machines/${machine.id}`, { body: { commandId: crypto.randomUUID() } });
      dialog.current?.close();
    } catch (error) {
      setTold(words(error));
    }
  };
  return (
    <section>
      <h2>Delete</h2>
      <p>
        Its credential is worth nothing from its next check on, on every instance. That cannot be taken back; it can be
        admitted anew.
      </p>
      <button type="button" class="danger" onClick={() => dialog.current?.showModal()}>
        Delete this machine
      </button>
      <dialog ref={dialog} aria-labelledby="delete-title">
        <form onSubmit={(event) => void remove(event)}>
          <h2 id="delete-title">Delete {name}?</h2>
          <label for="delete-name">
            Type its name: <b>{name}</b>
          </label>
          <input
            id="delete-name"
            autocomplete="off"
            value={typed}
            onInput={({ currentTarget }) => setTyped(currentTarget.value)}
          />
          <p role="alert" class="problem">
            {told}
          </p>
          <button type="button" class="plain" onClick={() => dialog.current?.close()}>
            Keep it
          </button>
          <button type="submit" class="danger" disabled={typed !== name}>
            Delete
          </button>
        </form>
      </dialog>
    </section>
  );
};
