import type { Actor } from '@rollcall/event-store';
import type { MachineEvent } from '@rollcall/machine';
import { understandEvent } from '../understand.js';
import type { Gap } from '../gaps.js';
import type { ChecksLine, EventLine } from './project.js';

/** How an actor is called in a sentence. */
export type NameOf = (actor: Actor) => string;

/** Without names at hand: what the record says. */
export const plainly: NameOf = ({ kind, id }) => (kind === 'plane' ? 'the plane' : `${kind} ${id}`);

/** A ledger event as a sentence for people, without its subject. */
export const eventSentence = (line: Pick<EventLine, 'type' | 'actor' | 'body'>, nameOf: NameOf): string => {
  const understood = understandEvent(line.type, line.body);
  return understood.understood
    ? sentences(understood.fact, nameOf(line.actor))
    : `${line.type}, which this version cannot read (${understood.reason})`;
};

const sentences = (event: MachineEvent, actor: string): string => {
  switch (event.type) {
    case 'MachineAdmitted':
      return event.name === null ? `admitted by ${actor}` : `admitted by ${actor} as "${event.name}"`;
    case 'GenerationRegistered':
      return `credential ${event.generation} registered`;
    case 'GenerationConfirmed':
      return `credential ${event.generation} used for the first time`;
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
    case 'BlockersChanged':
      return event.blockers.length === 0
        ? 'reports no blockers any more'
        : `reports blockers: ${event.blockers.join(', ')}`;
    case 'LogTailRequested':
      return `the tail of its log was asked for by ${actor}`;
    case 'LogTailReceived':
      return `uploaded the tail of its log, as asked for at ${event.stamp}`;
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

const duration = (milliseconds: number): string => {
  const seconds = Math.round(milliseconds / 1_000);
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} days`;
};
