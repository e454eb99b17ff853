import { instantOf, Refusal, timestampOf, type Rules } from '@rollcall/decider';
import type { ReceiveLogTail, RequestLogTail } from './commands.js';
import type { LogTailReceived, LogTailRequested, MachineFact } from './facts.js';

/** What a machine is asked for, by the stamp of the request: RFC 3339 in UTC with milliseconds, strictly growing per machine. */
export type Requests = {
  /** The request for the tail of the log that waits for its upload. */
  readonly logTail: string | null;
  /** The newest one that its upload has answered. */
  readonly logTailReceived: string | null;
};

/**
 * A request is a stamp that waits until an upload echoes it: once, and nothing else clears it (O26). A newer request takes the place of one
 * that waits, so the upload for the older one is refused and the newer one goes on waiting.
 */
export const requests: Rules<Requests, RequestLogTail | ReceiveLogTail, MachineFact> = {
  initial: () => ({ logTail: null, logTailReceived: null }),

  decide(state, command, { now }): readonly (LogTailRequested | LogTailReceived)[] {
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
    }
  },

  evolve(state, fact) {
    switch (fact.type) {
      case 'LogTailRequested':
        return { ...state, logTail: fact.stamp };
      case 'LogTailReceived':
        return { logTail: state.logTail === fact.stamp ? null : state.logTail, logTailReceived: fact.stamp };
      case 'MachineDeleted':
        return requests.initial();
      default:
        return state;
    }
  },
};
