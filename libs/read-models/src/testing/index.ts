export { dumpTables, MemoryReadModels } from '../pure-fold.js';
export { randomFrom, runWorkload, type Random, type WorkloadOptions, type WorkloadReport } from './workload.js';
export { ANNA, RecordBuilder, torn, type Anything } from './record-builder.js';
