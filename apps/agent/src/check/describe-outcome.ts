import type { Outcome } from './reaction.js';

/** An outcome for the status and the log: a code for programs and a sentence for the person at this machine. */
export type Described = { readonly code: string; readonly sentence: string };

/** Puts an outcome into words. */
export const describeOutcome = (outcome: Outcome): Described => {
  if (outcome.kind === 'accepted') return { code: 'accepted', sentence: 'The plane has taken the check.' };
  if (outcome.kind === 'lost') return { code: outcome.failure, sentence: `${outcome.message}.` };
  if (outcome.kind === 'refused')
    return { code: outcome.code, sentence: REFUSALS[outcome.code] ?? outcome.detail ?? `Refused: ${outcome.code}.` };
  const sentence = `Something that is not the plane answered with status ${outcome.status}; ignored.`;
  return { code: 'not-ours', sentence };
};

/** What a refusal means here, and what a person can do (O20). */
const REFUSALS: Readonly<Record<string, string>> = {
  'credential-revoked':
    'This machine was deleted at the plane. To admit it again, get a new token there and give it to "rollcall-agent enrol".',
  'credential-unknown':
    'The plane does not know the credential of this machine. Nothing was removed, and it is tried again; if the plane was not just restored, ask whoever runs it.',
  'generation-behind':
    'The plane knows a newer credential of this machine, so a copy of it may have rotated; trying on at the interval with the one that is here. If this is the right one, delete the machine at the plane, and give a new token to "rollcall-agent enrol".',
};

/** What an outcome tells about the clock of this machine; null when nothing (C13). */
export const clockProblemOf = (outcome: Outcome): string | null => {
  if (outcome.kind !== 'lost') return null;
  if (outcome.failure === 'certificate-not-yet-valid')
    return `The clock of this machine is wrong: it is behind. ${outcome.message}.`;
  if (outcome.failure === 'certificate-expired')
    return `The clock of this machine is ahead, or the certificate of the plane has expired. ${outcome.message}.`;
  return null;
};
