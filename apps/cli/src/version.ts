declare const ROLLCALL_CLI_VERSION: string | undefined;

/** The version of this tool, set by the build from its package.json. */
export const VERSION: string = typeof ROLLCALL_CLI_VERSION === 'string' ? ROLLCALL_CLI_VERSION : '0.0.0-source';
