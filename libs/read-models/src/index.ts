export { openReadModels, type ReadModelDatabase, type ReadModelDatabaseOptions } from './database.js';
export { MachineQueries, LIST_LIMIT, type ListMachines } from './presence/queries.js';
export { HistoryQueries, HISTORY_LIMIT, type ReadHistory } from './history/queries.js';
export { plainly, type NameOf } from './history/sentence.js';
export { ReadModelQueries } from './read-model-queries.js';
export { OLD_AFTER_SECONDS } from './snapshot.js';
