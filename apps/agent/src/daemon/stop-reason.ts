import type { StopReasonWord } from '@rollcall/wire';

/** What a local command may give as the reason of a stop. The other two of the list belong to the system and to the plane. */
export const GIVEN_REASONS = ['person', 'update', 'restart', 'handoff'] as const satisfies readonly StopReasonWord[];

/** The reason in a request's body; null when there is none of the list. */
export const stopReasonIn = (body: unknown): StopReasonWord | null => {
  const reason: unknown = typeof body === 'object' && body !== null && 'reason' in body ? body.reason : null;
  return GIVEN_REASONS.find((given) => given === reason) ?? null;
};
