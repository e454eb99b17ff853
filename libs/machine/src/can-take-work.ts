import { blockerOf } from './blockers.js';
import type { Condition } from './readiness.js';

const isHeldBack = (codes: readonly string[]): boolean => codes.some((code) => blockerOf(code).blocksWork);

/** A machine can take work when it is present, last said that it runs, and nothing that blocks work stands (O21). */
export const canTakeWork = ({ presence, lifecycle, blockers }: Omit<Condition, 'stopReason'>): boolean =>
  presence === 'present' && lifecycle === 'running' && !isHeldBack(blockers);

/** A machine is blocked when it is present and something that blocks work stands: one that is absent is absent, whatever else (O32). */
export const isBlocked = ({ presence, lifecycle, blockers }: Omit<Condition, 'stopReason'>): boolean =>
  presence === 'present' && lifecycle !== 'deleted' && isHeldBack(blockers);
