import type { StreamPast } from '@rollcall/event-store';
import { DUPLICATE, isPlanesWord, type Gap } from '@rollcall/machine';
import type { MachineView, WhyBasis } from '@rollcall/wire';

const utc = (instant: number): string => new Date(instant).toISOString();

/**
 * The facts that an answer rests on, the oldest first: of each kind that it speaks of the newest, and the times that nobody observed.
 */
export const basisOf = (
  { events, newestCheckIn }: StreamPast,
  { absentSince, lifecycle, blockers, pause, refusedClaims, deletedAt }: MachineView,
  gaps: readonly Gap[],
): readonly WhyBasis[] => {
  const spokenOf = [
    'MachineAdmitted',
    ...(deletedAt === null ? [] : ['MachineDeleted']),
    // One of an earlier silence says nothing about this one, before it is recorded itself.
    ...(absentSince === null ? [] : ['WentAbsent']),
    ...(lifecycle === 'stopping' || lifecycle === 'stopped' ? ['StopAnnounced'] : []),
    ...(blockers.some(({ code }) => !isPlanesWord(code)) ? ['BlockersChanged'] : []),
    ...(blockers.some(({ code }) => code === DUPLICATE) ? ['CredentialForked'] : []),
    ...(pause === null ? [] : ['MachinePaused']),
    ...(refusedClaims === null ? [] : ['ClaimRefused']),
    // Of the stream beside the machine's own, where the answer speaks of it.
    'CredentialRefused',
  ];
  const newest = spokenOf.flatMap((type) => events.findLast(({ event }) => event.type === type) ?? []);
  return [
    ...newest.map(({ event, revision, recordedAt }) => ({
      kind: 'event' as const,
      at: utc(recordedAt),
      revision,
      type: event.type,
    })),
    ...(newestCheckIn === null
      ? []
      : [
          {
            kind: 'check' as const,
            at: utc(newestCheckIn.recordedAt),
            revision: newestCheckIn.revision,
            said: newestCheckIn.checkIn.said,
          },
        ]),
    ...gaps.map(({ from, until }) => ({ kind: 'not-observed' as const, at: utc(from), until: utc(until) })),
  ].sort((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : placeOf(one) - placeOf(other)));
};

const placeOf = (basis: WhyBasis): number => ('revision' in basis ? basis.revision : 0);
