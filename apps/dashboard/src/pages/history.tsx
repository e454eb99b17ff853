import { joinPages } from '@rollcall/machine';
import type { HistoryEntry } from '@rollcall/wire';
import { useEffect, useRef, useState } from 'preact/hooks';
import { words } from '../plane/ask.js';
import { progressOf, replayPage } from '../plane/replay.js';

/** What the record has told so far, oldest first. */
type Replayed = { readonly entries: readonly HistoryEntry[]; readonly next: string | null; readonly progress: string };

const NOTHING: Replayed = { entries: [], next: 'start', progress: '' };

/** What happened to a machine: the newest of it, or all of it from the record, page by page from its admission on (U4). */
export const History = ({ id, newest }: { readonly id: string; readonly newest: readonly HistoryEntry[] }) => {
  const [replayed, setReplayed] = useState<Replayed | null>(null);
  const [isReading, setReading] = useState(false);
  const [problem, setProblem] = useState('');
  const over = useRef(new AbortController());
  useEffect(() => () => over.current.abort(), []);

  const readOn = async ({ entries, next }: Replayed) => {
    if (next === null) return;
    const { signal } = over.current;
    setReading(true);
    setProblem('');
    try {
      const page = await replayPage(id, next, signal);
      setReplayed({ entries: joinPages(entries, page.entries), next: page.next, progress: progressOf(page) });
    } catch (error) {
      if (signal.aborted) return;
      setProblem(words(error));
    }
    setReading(false);
  };
  return (
    <section>
      <h2>History</h2>
      <p class="faint">
        {replayed === null
          ? 'The newest of it, from the newest on.'
          : 'From the record, from its admission on: all of it, once all facts are read.'}
      </p>
      <div class="buttons">
        {replayed === null ? (
          <button type="button" onClick={() => void readOn(NOTHING)} disabled={isReading}>
            From the beginning
          </button>
        ) : (
          <button type="button" onClick={() => setReplayed(null)} disabled={isReading}>
            Only the newest
          </button>
        )}
      </div>
      <p role="alert" class="problem">
        {problem}
      </p>
      <ol class="history">
        {(replayed?.entries ?? newest.toReversed()).map((entry) => (
          <li
            key={`${entry.kind} ${entry.at}${'revision' in entry ? entry.revision : entry.sentence}`}
            class={entry.kind}
          >
            <time dateTime={entry.at}>{new Date(entry.at).toLocaleString()}</time> {entry.sentence}
          </li>
        ))}
      </ol>
      <p role="status">{replayed?.progress}</p>
      {replayed !== null && replayed.next !== null && (
        <button type="button" onClick={() => void readOn(replayed)} disabled={isReading}>
          More
        </button>
      )}
    </section>
  );
};
