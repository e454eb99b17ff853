import type { Batch } from './event-store.js';

// Hooks for whoever follows commands through the plane. The record and its readers know a trace as a W3C `traceparent`, and nothing else of it.

/** Called with the `traceparent` of a command right before its append. */
export type TraceAppend = (parent: string) => TracedAppend;

/** An append under way, as one of its commands sees it. */
export type TracedAppend = {
  /** The `traceparent` of what follows from the append. */
  readonly trace: string;
  /** The answer came: the batch that recorded the command, and all facts in that batch. null: this append did not record it. */
  end(recorded: { readonly batch: bigint; readonly facts: number } | null): void;
};

/** Called with batches right before something is done with them; what it answers is called right after, with whether it was done. */
export type TraceBatches = (batches: readonly Batch[]) => (done: boolean) => void;

/** Follows nothing. */
export const UNTRACED: TraceBatches = () => () => undefined;
