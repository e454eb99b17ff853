export { EmbeddedCluster, PortTaken } from './cluster.js';
export type { ClusterOptions } from './cluster.js';
