import { BODY_LIMIT_BYTES, type CheckRequest, type SelfReportBody, type StopReasonWord } from '@rollcall/wire';

/** What a check shows beyond being one: none of it may cost liveness, so it can be left out (C11). */
export type Display = Pick<CheckRequest, 'believes' | 'blockers' | 'notProbed' | 'name' | 'report'>;

/** What a machine says of itself. */
export type SelfPortrait = { readonly name: string | null; readonly report: SelfReportBody };

/** What one check is made of. */
export type CheckFacts = {
  readonly boot: CheckRequest['boot'];
  readonly sequence: number;
  readonly checkId: string;
  readonly chain: string | null;
  /** null: running. */
  readonly stopping: StopReasonWord | null;
  /** null: leave it out. */
  readonly display: Display | null;
};

/** Writes a check. Display that would not fit through the plane's door is left out before it is refused there. */
export const checkBody = ({ boot, sequence, checkId, chain, stopping, display }: CheckFacts): CheckRequest => {
  const bare: CheckRequest = {
    boot,
    sequence,
    checkId,
    chain,
    said: stopping === null ? 'running' : 'stopping',
    reason: stopping,
  };
  if (!display) return bare;
  const whole: CheckRequest = { ...bare, ...display };
  return Buffer.byteLength(JSON.stringify(whole)) > BODY_LIMIT_BYTES ? bare : whole;
};
