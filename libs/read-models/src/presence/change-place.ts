import type { Instant } from '@rollcall/decider';

/** A place in what is told of machines: after everything up to it, before everything beyond. Any instance goes on from it. */
export type ChangePlace = {
  /** Of the record. Its numbers mean nothing in another one. */
  readonly epoch: string;
  readonly batch: bigint;
  /** When that was recorded. */
  readonly at: Instant;
  /** The last machine of that batch that was told; null: all of it was. */
  readonly machine: string | null;
};

const TEXT = /^([\w-]{1,64})\.(\d{1,18})\.(\d{1,15})(?:\.([\w-]{1,64}))?$/;

/** As the id of an event. */
export const changePlaceText = ({ epoch, batch, at, machine }: ChangePlace): string =>
  [epoch, batch, at, ...(machine === null ? [] : [machine])].join('.');

/** What a client says where it was; null where no event of ours had such an id. */
export const readChangePlace = (text: string): ChangePlace | null => {
  const [, epoch, batch, at, machine = null] = TEXT.exec(text) ?? [];
  return epoch === undefined || batch === undefined || at === undefined
    ? null
    : { epoch, batch: BigInt(batch), at: Number(at), machine };
};
