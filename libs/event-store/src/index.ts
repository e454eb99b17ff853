export { decodeBatch, encodeBatch, encodeBatchWithoutFacts, NotABatch } from './batch-text.js';
export { isEar } from './ears.js';
export { BODY_LIMIT, bodyOf, ledgerEventOf, Unstorable } from './body.js';
export { ADMITTING_TYPES, EventStore, part, STREAM_START } from './event-store.js';
export type {
  Actor,
  Batch,
  ClaimHolder,
  DecideOptions,
  Decision,
  Decisions,
  LedgerEvent,
  Part,
  RecordedCheckIn,
  RecordedEvent,
  RecordedFact,
  RecordedGap,
  RecordHead,
  StreamPast,
  StreamPlace,
  StreamView,
  Target,
  WantedGaps,
  WantedPast,
} from './event-store.js';
export { ClaimTaken, foldOf, GroupCommit } from './group-commit.js';
export type { CommittedAppend, GroupCommitOptions } from './group-commit.js';
export { LogBackedStore } from './log-backed-store.js';
export { ItemsRejected, OutcomeUnknown, RecordLog, RecordUnavailable, TryAgain } from './record-log.js';
export { UNTRACED, type TraceAppend, type TraceBatches, type TracedAppend } from './tracing.js';
export type {
  Answer,
  Answers,
  AppendItem,
  AppendOptions,
  AppendResult,
  Head,
  ItemOutcome,
  NewCheckIn,
  NewEvent,
  Question,
} from './record-log.js';
