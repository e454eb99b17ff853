import { accountAfter, type GenerationAccount } from '@rollcall/machine';
import type { HistoryEntry } from '@rollcall/wire';
import { useEffect, useRef, useState } from 'preact/hooks';
import { words } from '../plane/ask.js';
import { progressOf, replayPage } from '../plane/replay.js';

/** What became of each generation of a machine's credential, replayed from the record page by page when somebody asks for it (U4). */
export const Generations = ({ id }: { readonly id: string }) => {
  const [accounts, setAccounts] = useState<readonly GenerationAccount[] | null>(null);
  const [admission, setAdmission] = useState<HistoryEntry | null>(null);
  const [progress, setProgress] = useState('');
  const [isReading, setReading] = useState(false);
  const [problem, setProblem] = useState('');
  const over = useRef(new AbortController());
  useEffect(() => () => over.current.abort(), []);

  const replay = async () => {
    const { signal } = over.current;
    let replayed: readonly GenerationAccount[] = [];
    setReading(true);
    setProblem('');
    try {
      for (let after: string | null = 'start'; after !== null;) {
        const page = await replayPage(id, after, signal);
        replayed = page.entries.reduce<readonly GenerationAccount[]>(accountAfter, replayed);
        const first = page.entries.find((entry) => entry.kind === 'event' && entry.type === 'MachineAdmitted');
        if (first) setAdmission(first);
        setProgress(progressOf(page));
        after = page.next;
      }
      setAccounts(replayed);
    } catch (error) {
      if (signal.aborted) return;
      setProblem(words(error));
    }
    setProgress('');
    setReading(false);
  };
  return (
    <section>
      <h2>Generations of its credential</h2>
      <p role="status">{progress}</p>
      <p role="alert" class="problem">
        {problem}
      </p>
      {accounts === null ? (
        <button type="button" onClick={() => void replay()} disabled={isReading}>
          Replay from the record
        </button>
      ) : (
        <ol class="history">
          {admission && (
            <li>
              {at(admission.at)}: {admission.sentence}
            </li>
          )}
          {accounts.map((account) => (
            <li key={account.generation}>
              <b>Generation {account.generation}</b> <span class="faint">{account.keyHash.slice(0, 12)}…</span>
              <ul>
                {linesOf(account).map((line) => (
                  <li key={line}>{line}</li>
                ))}
              </ul>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
};

const ENDED = {
  cut: 'cut by a later one',
  void: 'void before it was used',
  revoked: 'revoked with the machine',
} as const;

const linesOf = ({
  registeredAt,
  confirmedAt,
  checks,
  ended,
  refused,
  copied,
}: GenerationAccount): readonly string[] => [
  `registered ${at(registeredAt)}`,
  confirmedAt === null ? 'never used' : `used first ${at(confirmedAt)}`,
  ...(checks === null ? [] : [`${checks.count.toLocaleString()} checks accepted, the last ${at(checks.last)}`]),
  ended === null ? 'it stands' : `${ENDED[ended.how]} ${at(ended.at)}`,
  ...(refused === null ? [] : [`refused since: first ${at(refused.first)}, last ${at(refused.last)}`]),
  ...(copied === null ? [] : [`in use twice: noticed ${at(copied.first)}`]),
];

const at = (time: string): string => new Date(time).toLocaleString();
