import { timestampOf, type Instant } from '@rollcall/decider';

/** A machine as a digest names it. */
export type NamedMachine = {
  readonly machine: string;
  readonly name: string | null;
  readonly lastCheckAt: string;
  readonly dueAt: string;
};

/** Machines that a digest names; it counts the others. A body stays below what may be sent, whatever they are called. */
const NAMED = 30;

/** What a `fleet.silence` says. */
export const silenceBody = (at: Instant, data: object): string =>
  JSON.stringify({ type: 'fleet.silence', timestamp: timestampOf(at), data: { machine: null, ...data } });

/** What the digest of those says that are absent together. */
export const digestBody = (at: Instant, silence: string, absent: readonly NamedMachine[]): string =>
  silenceBody(at, { phase: 'ended', silence, absent: absent.length, machines: absent.slice(0, NAMED) });
