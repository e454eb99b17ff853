import type { AnsweredRequest, Meter } from '@rollcall/telemetry';
import type { ProblemCode } from '@rollcall/wire';

/** What became of a check: recorded, recorded before, or refused with a code. */
export type CheckOutcome = 'accepted' | 'repeated' | ProblemCode;

const ROUTE = '/v1/check';

/** Counts checks by what became of them. */
export class CheckCounts {
  private readonly add: (outcome: CheckOutcome) => void;

  constructor(meter: Meter) {
    const checks = meter.createCounter<{ outcome: CheckOutcome }>('rollcall_checks_total', {
      description: 'Checks by outcome: accepted, repeated, or the code of the refusal',
    });
    this.add = (outcome) => checks.add(1, { outcome });
    // A rate is seen from the first one on only where there was a zero before it.
    checks.add(0, { outcome: 'accepted' });
  }

  recorded({ repeated }: { readonly repeated: boolean }): void {
    this.add(repeated ? 'repeated' : 'accepted');
  }

  /** Refusals are counted where they are answered: most are refused before any rule has seen them. */
  answered({ route, code }: AnsweredRequest): void {
    if (route === ROUTE && code !== null) this.add(code);
  }
}
