export type { AgentState, AgentStatus } from './daemon/agent-status.js';
export { EXIT } from './exit-code.js';
