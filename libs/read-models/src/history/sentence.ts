import type { Actor } from '@rollcall/event-store';
import type { MachineEvent } from '@rollcall/machine';
import { understandEvent } from '../understand.js';
import type { Gap } from '../gaps.js';
import { blockersSentence, type BlockerBefore } from './blockers-sentence.js';
import { duration } from './duration.js';
import type { ChecksLine, EventLine } from './project.js';

/** How an actor is called in a sentence. */
export type NameOf = (actor: Actor) => string;

/** Without names at hand: what the record says. */
export const plainly: NameOf = ({ kind, id }) => (kind === 'plane' ? 'the plane' : `${kind} ${id}`);

/**
 * A ledger event as a sentence for people, without its subject.
 *
 * @param before the blockers that stood until then: how long one has lasted is told when it ends
 */
export const eventSentence = (
  line: Pick<EventLine, 'type' | 'actor' | 'body' | 'at'>,
  nameOf: NameOf,
  before: readonly BlockerBefore[],
): string => {
  const understood = understandEvent(line.type, line.body);
  if (!understood.understood) return `${line.type}, which this version cannot read (${understood.reason})`;
  const { fact } = understood;
  return fact.type === 'BlockersChanged'
    ? blockersSentence(before, fact.blockers, line.at)
    : sentences(fact, nameOf(line.actor));
};

const CHANNELS = {
  token: 'with an enrolment token',
  code: 'by a short code',
  preadmission: 'with a credential that was registered beforehand',
} as const;

const sentences = (event: Exclude<MachineEvent, { type: 'BlockersChanged' }>, actor: string): string => {
  switch (event.type) {
    case 'MachineAdmitted':
      return [
        `admitted by ${actor} ${CHANNELS[event.via ?? 'token']}`,
        event.name === null ? '' : ` as "${event.name}"`,
        event.succeeds === undefined ? '' : `, in place of machine ${event.succeeds}`,
      ].join('');
    case 'GenerationRegistered':
      return `credential ${event.generation} registered`;
    case 'GenerationConfirmed':
      return `credential ${event.generation} used for the first time`;
    case 'CredentialForked':
      return `credential ${event.generation} is in use twice: a copy of this installation is checking in as well (noticed at a check of start ${event.boot.counter})`;
    case 'PendingVoided':
      return `credential ${event.generation} was not used in time and never counts`;
    case 'RotationRequested':
      return `asked by ${actor} to replace its credential`;
    case 'AgentStarted':
      return `the agent started (start ${event.boot.counter})`;
    case 'NameAdopted':
      return `took the name "${event.name}" from its own report`;
    case 'MachineRenamed':
      return `renamed to "${event.name}" by ${actor}`;
    case 'SelfReportChanged': {
      const { hostname, agentVersion, platform, arch } = event;
      const known = [
        hostname === null ? null : `hostname ${hostname}`,
        agentVersion === null ? null : `agent ${agentVersion}`,
        [platform, arch].filter((part) => part !== null).join(' '),
      ];
      return `reports ${known.filter((part) => part !== null && part !== '').join(', ') || 'nothing about itself'}`;
    }
    case 'StopAnnounced':
      return `said it would stop: ${event.reason}`;
    case 'LogTailRequested':
      return `the tail of its log was asked for by ${actor}`;
    case 'LogTailReceived':
      return `uploaded the tail of its log, as asked for at ${event.stamp}`;
    case 'WentAbsent':
      return event.stopReason === null
        ? `absent since ${event.dueAt}: nothing was heard for ${duration(event.window * 1_000)}, and it had said that it runs`
        : `stopped (${event.stopReason}): as it had said, nothing was heard of it since ${event.lastCheckAt}`;
    case 'Returned':
      return `heard from again, after ${duration(event.absentFor * 1_000)} of absence`;
    case 'MachinePaused':
      return `paused by ${actor}${event.until === null ? '' : ` until ${event.until}`}: ${event.note}`;
    case 'MachineResumed':
      return `the pause was ended by ${actor}`;
    case 'LabelsChanged': {
      const shown = Object.entries(event.labels).map(([key, value]) => `${key}=${value}`);
      return shown.length === 0 ? `all labels taken away by ${actor}` : `labelled ${shown.join(', ')} by ${actor}`;
    }
    case 'ClaimRefused':
      return `a claim on its identifier was refused: another installation${event.hostname === null ? '' : `, which calls itself ${event.hostname},`} had a right to join`;
    case 'MachineDeleted':
      return `deleted by ${actor}`;
  }
};

/** A run of check-ins as a sentence. */
export const checksSentence = ({ checks, said }: Pick<ChecksLine, 'checks' | 'said'>): string => {
  const times = checks === 1 ? 'checked in once' : checks === 2 ? 'checked in twice' : `checked in ${checks} times`;
  return said === 'stopping' ? `${times}, stopping` : times;
};

/** A gap as a sentence. */
export const gapSentence = ({ from, until }: Pick<Gap, 'from' | 'until'>): string =>
  `not observed: the plane was not listening for ${duration(until - from)}`;
