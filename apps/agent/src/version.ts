declare const ROLLCALL_AGENT_VERSION: string | undefined;

/** The version of this agent, set by the build from its package.json. */
export const VERSION: string = typeof ROLLCALL_AGENT_VERSION === 'string' ? ROLLCALL_AGENT_VERSION : '0.0.0-source';
