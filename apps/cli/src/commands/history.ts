import { accountAfter, isOwnEntry, joinPages, type GenerationAccount } from '@rollcall/machine';
import type { AsOf, History, HistoryEntry, HistoryPage } from '@rollcall/wire';
import type { Context } from '../context.js';
import { EXIT, Failure } from '../failure.js';
import { noteAge } from '../output/machine-view.js';
import type { Output } from '../output/output.js';
import { clockTime } from '../output/relative-time.js';
import { pathOf } from './machines.js';

/** What of a history is wanted. Times are RFC 3339. */
export type WantedHistory = {
  /** Only so many lines, the newest: quicker, from a read model. */
  readonly limit?: number;
  readonly from?: string;
  readonly to?: string;
  /** One account per generation of the credential in the place of the lines. */
  readonly credentials?: boolean;
};

/**
 * `rollcall history MACHINE`: everything that is recorded about a machine, oldest first, also after its deletion (U4). It is read from the record
 * page by page and printed as it comes, so its length does not matter; a JSON document that was cut short has no end. With
 * `--credentials`: what became of each generation.
 */
export const showHistory = async (machine: string, wanted: WantedHistory, context: Context): Promise<void> => {
  const { output, plane, surroundings } = context;
  const { from, to } = wanted;
  if (from !== undefined && to !== undefined && Date.parse(from) > Date.parse(to))
    throw new Failure('--from is later than --to, so nothing can lie between them.', EXIT.usage);
  if (wanted.limit !== undefined) {
    const path = `${pathOf(machine)}/history?limit=${wanted.limit}`;
    const history = await (await plane()).read<History>(path, surroundings.signal);
    if (output.asJson) return output.json(history);
    printHead(output);
    for (const entry of history.entries) printEntry(output, entry);
    return noteAge(output, history);
  }
  return wanted.credentials === true ? showAccount(machine, wanted, context) : showAll(machine, wanted, context);
};

const showAll = async (machine: string, wanted: WantedHistory, context: Context): Promise<void> => {
  const { output } = context;
  const document = output.asJson ? output.jsonInParts('entries') : null;
  if (document === null) printHead(output);
  let last: HistoryPage | null = null;
  let age: AsOf | null = null;
  let held: readonly HistoryEntry[] = [];
  const print = (entry: HistoryEntry): void => {
    if (document === null) printEntry(output, entry);
    else document.item(entry);
  };
  for await (const page of pagesOf(machine, wanted, context)) {
    const entries: readonly HistoryEntry[] = joinPages(held, page.entries);
    // The next page may go on with the last run of checks, whatever was placed behind it.
    const open = page.next === null ? -1 : entries.findLastIndex(isOwnEntry);
    held = open === -1 ? [] : entries.slice(open);
    entries.slice(0, entries.length - held.length).forEach(print);
    last = page;
    age = olderOf(age, page);
  }
  if (last === null || age === null) return;
  if (document === null) return noteAge(output, age);
  document.end({ machine: last.machine, asOf: age.asOf, behind: age.behind });
};

/** What is said of the age of several answers: that of the first one that was old, else of the last. */
const olderOf = (before: AsOf | null, now: AsOf): AsOf => (before?.behind ? before : now);

const showAccount = async (machine: string, wanted: WantedHistory, context: Context): Promise<void> => {
  const { output } = context;
  let accounts: readonly GenerationAccount[] = [];
  let named: HistoryPage['machine'] | null = null;
  let admission: AdmissionEntry | null = null;
  for await (const page of pagesOf(machine, wanted, context)) {
    accounts = page.entries.reduce<readonly GenerationAccount[]>(accountAfter, accounts);
    named = page.machine;
    admission ??= page.entries.find(isAdmission) ?? null;
  }
  if (output.asJson)
    return output.json({ machine: named, admission: admission && toldOf(admission), generations: accounts });
  if (admission !== null) output.line(`${clockTime(admission.at)}  ${admission.sentence}`);
  output.table(
    ['GENERATION', 'REGISTERED', 'CHECKS', 'FIRST', 'LAST', 'ENDED', 'REFUSED', 'IN USE TWICE'],
    accounts.map(({ generation, registeredAt, checks, ended, refused, copied }) => [
      String(generation),
      clockTime(registeredAt),
      String(checks?.count ?? 0),
      checks === null ? '-' : clockTime(checks.first),
      checks === null ? '-' : clockTime(checks.last),
      ended === null ? 'it stands' : `${ended.how} ${clockTime(ended.at)}`,
      refused === null ? '-' : `first ${clockTime(refused.first)}, last ${clockTime(refused.last)}`,
      copied === null ? '-' : { text: `noticed ${clockTime(copied.first)}`, tone: 'bad' },
    ]),
  );
};

type AdmissionEntry = Extract<HistoryEntry, { readonly kind: 'event' }>;

const isAdmission = (entry: HistoryEntry): entry is AdmissionEntry =>
  entry.kind === 'event' && entry.type === 'MachineAdmitted';

/** On whose approval it was admitted, by which channel, and which token, code or credential that was (U4). */
const toldOf = ({ at, actor, body: { via = 'token', token } }: AdmissionEntry) => ({ at, by: actor, via, id: token });

/** All pages, one after the other. At a terminal it says how far they have come. */
async function* pagesOf(
  machine: string,
  { from, to }: WantedHistory,
  { output, plane, surroundings }: Context,
): AsyncGenerator<HistoryPage> {
  const asked = await plane();
  let path = pathOf(machine);
  for (let after: string | null = 'start'; after !== null;) {
    const query = new URLSearchParams({ after, ...(from && { from }), ...(to && { to }) });
    const page: HistoryPage = await asked
      .readPatiently<HistoryPage>(`${path}/history?${query.toString()}`, surroundings)
      .finally(() => output.progress(null));
    yield page;
    after = page.next;
    // By now another machine can have the name, as the next one of the node has.
    path = pathOf(page.machine.id);
    const { through, recorded } = page.facts;
    if (after !== null)
      output.progress(`${through.toLocaleString('en')} of ${recorded.toLocaleString('en')} facts read`);
  }
}

/** As wide as two times with a dash between. */
const WHEN = 43;

const printHead = (output: Output): void => output.line(`${'WHEN'.padEnd(WHEN)}  WHAT`, 'quiet');

const printEntry = (output: Output, entry: HistoryEntry): void => {
  const spans = (entry.kind === 'checks' || entry.kind === 'not-observed') && entry.until !== entry.at;
  const when = spans ? `${clockTime(entry.at)} – ${clockTime(entry.until)}` : clockTime(entry.at);
  const tone = entry.kind === 'not-observed' || entry.kind === 'refused' ? 'warning' : 'plain';
  output.line(`${when.padEnd(WHEN)}  ${entry.sentence}`, tone);
};
