export { EmbeddedCluster, PortTaken, refuseTakenPort } from './cluster.js';
export type { ClusterOptions } from './cluster.js';
