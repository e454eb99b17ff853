import { ACTIONS, type Action } from './actions.js';
import type { Scope } from './scopes.js';

/** Seconds after which a session is no longer fresh: an open session on a laptop that was left alone must not admit or delete. */
export const FRESH_SECONDS = 900;

/** The kinds of actor that a table entry can name. None turns into another. */
export type ActorKind = 'person' | 'machine' | 'automation' | 'nobody';

/** Who asks, as far as the table wants to know. */
export type Asker =
  | { readonly kind: 'person'; readonly fresh: boolean }
  | { readonly kind: 'machine' }
  | { readonly kind: 'automation'; readonly scopes: readonly Scope[] }
  | { readonly kind: 'nobody' };

/** `no` is told as if nobody had asked; the other two tell somebody who is known what is missing. */
export type Verdict = 'yes' | 'no' | 'session-not-fresh' | 'scope-missing';

/** Whether somebody may carry an action out. What the table does not name is forbidden (O3). */
export const verdictOn = (action: Action, asker: Asker): Verdict => {
  const { person, machine, automation, nobody } = ACTIONS[action];
  if (nobody) return 'yes';
  switch (asker.kind) {
    case 'person':
      if (!person) return 'no';
      return person === 'fresh' && !asker.fresh ? 'session-not-fresh' : 'yes';
    case 'machine':
      return machine ? 'yes' : 'no';
    case 'automation':
      if (!automation) return 'no';
      return asker.scopes.includes(automation) ? 'yes' : 'scope-missing';
    case 'nobody':
      return 'no';
  }
};

/** The kinds of actor that an action is for at all. */
export const kindsFor = (action: Action): readonly ActorKind[] => {
  const rule = ACTIONS[action];
  return (['person', 'machine', 'automation', 'nobody'] as const).filter((kind) => rule[kind] !== undefined);
};
