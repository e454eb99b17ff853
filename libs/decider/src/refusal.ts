import type { Json } from './decider.js';

/**
 * A rule's "no". The code comes from the closed list in `@rollcall/wire`; one table turns it into an HTTP answer. It concerns
 * its own caller only: decisions that share its commit are not touched.
 */
export class Refusal extends Error {
  override readonly name = 'Refusal';

  constructor(
    readonly code: string,
    /** What the caller may be told beyond the code, for example the highest boot counter. */
    readonly details: { readonly [key: string]: Json } = {},
  ) {
    super(code);
  }
}
