import { instantOf, Refusal, timestampOf, type Rules } from '@rollcall/decider';
import type { ReceiveLogTail, RequestLogTail, RequestRotation } from './commands.js';
import type { LogTailReceived, LogTailRequested, MachineFact, RotationRequested } from './facts.js';

/** What a machine is asked for, by the stamp of the request: RFC 3339 in UTC with milliseconds, strictly growing per machine. */
export type Requests = {
  /** The request for the tail of the log that waits for its upload. */
  readonly logTail: string | null;
  /** The newest one that its upload has answered. */
  readonly logTailReceived: string | null;
  /** The request for a newer generation than this one. Absent on heads from before there were any. */
  readonly rotation?: { readonly stamp: string; readonly generation: number } | null;
};

/** A person's request, with the newest generation that is registered: all up to it are to be replaced. */
export type RotationWanted = RequestRotation & { readonly generation: number };

/**
 * A request is a stamp that waits until an upload echoes it: once, and nothing else clears it (O26). A newer request takes the place of one
 * that waits, so the upload for the older one is refused and the newer one goes on waiting. A request to rotate waits for a first use of a
 * generation that was registered after it; asking again meanwhile asks for nothing more (O19).
 */
export const requests: Rules<Requests, RequestLogTail | ReceiveLogTail | RotationWanted, MachineFact> = {
  initial: () => ({ logTail: null, logTailReceived: null, rotation: null }),

  decide(state, command, { now }): readonly (LogTailRequested | LogTailReceived | RotationRequested)[] {
    switch (command.type) {
      case 'RequestLogTail': {
        // What waits is newer than what was received, because it was asked for later.
        const newest = state.logTail ?? state.logTailReceived;
        const stamp = newest === null ? now : Math.max(now, instantOf(newest) + 1);
        return [{ type: 'LogTailRequested', stamp: timestampOf(stamp) }];
      }
      case 'ReceiveLogTail':
        if (command.stamp !== state.logTail) throw new Refusal('request-not-pending');
        return [{ type: 'LogTailReceived', stamp: command.stamp }];
      case 'RequestRotation':
        if (state.rotation) return [];
        return [{ type: 'RotationRequested', stamp: timestampOf(now), generation: command.generation }];
    }
  },

  evolve(state, fact) {
    switch (fact.type) {
      case 'LogTailRequested':
        return { ...state, logTail: fact.stamp };
      case 'LogTailReceived':
        return {
          ...state,
          logTail: state.logTail === fact.stamp ? null : state.logTail,
          logTailReceived: fact.stamp,
        };
      case 'RotationRequested':
        return { ...state, rotation: { stamp: fact.stamp, generation: fact.generation } };
      case 'GenerationConfirmed':
        return state.rotation && fact.generation > state.rotation.generation ? { ...state, rotation: null } : state;
      case 'MachineDeleted':
        return requests.initial();
      default:
        return state;
    }
  },
};
