import type { MachineEvent } from './facts.js';

/** What became of one generation of a machine's credential. Times are the record's (RFC 3339). */
export type GenerationAccount = {
  readonly generation: number;
  /** SHA-256 (hex) of the secret. */
  readonly keyHash: string;
  readonly registeredAt: string;
  /** The first success, which cut the generation before; null where there was none. */
  readonly confirmedAt: string | null;
  /** Accepted checks, the first and the last of them. */
  readonly checks: { readonly count: number; readonly first: string; readonly last: string } | null;
  /** How it ended: cut by a later one, void before it was used, or revoked with the machine. null: it stands. */
  readonly ended: { readonly how: 'cut' | 'void' | 'revoked'; readonly at: string } | null;
  /** Uses that were refused, as far as they are recorded: the first, and then one an hour at most. */
  readonly refused: { readonly count: number; readonly first: string; readonly last: string } | null;
  /** Signals that it was in use twice (B2). */
  readonly copied: { readonly count: number; readonly first: string; readonly last: string } | null;
};

/**
 * What an account is made of, in the order of the record and in the form of a machine's history: ledger events as they were recorded, runs of
 * accepted checks, and refused uses. The rest of a history adds nothing.
 */
export type AccountEntry =
  | {
      readonly kind: 'event';
      readonly at: string;
      readonly type: string;
      readonly body: { readonly [key: string]: unknown };
    }
  | {
      readonly kind: 'checks';
      /** Told by every replay. */
      readonly generation?: number;
      readonly at: string;
      readonly until: string;
      readonly count: number;
    }
  | { readonly kind: 'refused'; readonly at: string; readonly generation: number | null; readonly keyHash: string }
  | { readonly kind: 'not-observed' };

type Accounts = readonly GenerationAccount[];
type Span = { readonly count: number; readonly first: string; readonly last: string };

/**
 * The account of a machine's credential after one more entry of its history, by generation (U4). A generation ends when a later one has succeeded
 * once, when another takes its place before it was used or it was not used in time, and when the machine is deleted, which ends all
 * that stand (O19, O31).
 */
export const accountAfter = (accounts: Accounts, entry: AccountEntry): Accounts => {
  switch (entry.kind) {
    case 'checks': {
      const { generation, count, at: first, until: last } = entry;
      if (generation === undefined) return accounts;
      return change(accounts, isOf(generation), ({ checks }) => ({ checks: joined(checks, { count, first, last }) }));
    }
    case 'refused': {
      const { at, keyHash } = entry;
      const used = { count: 1, first: at, last: at };
      return change(
        accounts,
        (one) => one.keyHash === keyHash,
        ({ refused }) => ({ refused: joined(refused, used) }),
      );
    }
    case 'event':
      // What this version does not know, the account passes over.
      return afterEvent(accounts, { ...entry.body, type: entry.type } as MachineEvent, entry.at);
    case 'not-observed':
      return accounts;
  }
};

const afterEvent = (accounts: Accounts, event: MachineEvent, at: string): Accounts => {
  switch (event.type) {
    case 'GenerationRegistered': {
      const { generation, keyHash } = event;
      const begun = { generation, keyHash, registeredAt: at, confirmedAt: null, checks: null };
      // Another hash took the place of one that nobody has used.
      return [...end(accounts, isUnused, 'void', at), { ...begun, ended: null, refused: null, copied: null }];
    }
    case 'GenerationConfirmed':
      return change(
        end(accounts, ({ generation }) => generation < event.generation, 'cut', at),
        isOf(event.generation),
        () => ({ confirmedAt: at }),
      );
    case 'PendingVoided':
      return end(accounts, isOf(event.generation), 'void', at);
    case 'CredentialForked': {
      const signal = { count: 1, first: at, last: at };
      return change(accounts, isOf(event.generation), ({ copied }) => ({ copied: joined(copied, signal) }));
    }
    case 'MachineDeleted':
      return end(accounts, () => true, 'revoked', at);
    default:
      return accounts;
  }
};

type Which = (account: GenerationAccount) => boolean;

const isOf =
  (wanted: number): Which =>
  ({ generation }) =>
    generation === wanted;

const isUnused: Which = ({ confirmedAt }) => confirmedAt === null;

const change = (
  accounts: Accounts,
  which: Which,
  to: (account: GenerationAccount) => Partial<GenerationAccount>,
): Accounts => accounts.map((account) => (which(account) ? { ...account, ...to(account) } : account));

/** Ends those that stand. */
const end = (accounts: Accounts, which: Which, how: 'cut' | 'void' | 'revoked', at: string): Accounts =>
  change(
    accounts,
    (account) => account.ended === null && which(account),
    () => ({ ended: { how, at } }),
  );

const joined = (before: Span | null, more: Span): Span =>
  before === null ? more : { count: before.count + more.count, first: before.first, last: more.last };
