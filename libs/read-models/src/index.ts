export { openReadModels, type ReadModelDatabase, type ReadModelDatabaseOptions } from './database.js';
export { MachineQueries, LIST_LIMIT, type ListMachines, type WhichMachines } from './presence/queries.js';
export { ChangeQueries, type ChangeNews } from './presence/changes.js';
export { changePlaceText, readChangePlace, type ChangePlace } from './presence/change-place.js';
export { ChangeWatch, type Listening } from './presence/change-watch.js';
export {
  FACTS_OF_A_PAGE,
  GAPS_OF_A_PAGE,
  ReplayQueries,
  readReplayPlace,
  type ReadPage,
  type ReplayPlace,
} from './history/replay.js';
export { refusedUses, withRefusedUses } from './history/refused-uses.js';
export { HistoryQueries, HISTORY_LIMIT, type ReadHistory } from './history/queries.js';
export {
  ReadinessQueries,
  EPISODE_LIMIT,
  EPISODE_PLACE,
  type ListBlockers,
  type ReadEpisodes,
} from './readiness/queries.js';
export { WhyQueries, type NoAnswer } from './why/queries.js';
export { plainly, type NameOf } from './history/sentence.js';
export { ReadModelQueries } from './read-model-queries.js';
export { OLD_AFTER_SECONDS } from './snapshot.js';
export { Follower, type FollowOptions } from './follow.js';
export {
  RecordFollower,
  type BatchPlace,
  type Followed,
  type FollowLog,
  type FollowRecordOptions,
  type FollowStatus,
  type FollowStep,
  type RecordReader,
} from './follow-record.js';
export { applyBatches, HoleInTheRecord, type Place } from './apply.js';
export { presenceModel } from './presence/store.js';
export { historyModel } from './history/store.js';
export { readinessModel } from './readiness/store.js';
export { absenceModel } from './absence/store.js';
export { AbsenceWatch, type AbsenceWatchOptions, type WatchStatus } from './absence/watch.js';
export { SilenceClock } from './absence/silence-clock.js';
export { READ_MODELS } from './every-model.js';
export type { ReadModel } from './model.js';
export { NO_TRAIL, trailAfter } from './trail.js';
export { dumpTables, MemoryReadModels } from './pure-fold.js';
