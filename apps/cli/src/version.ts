import packageJson from '../package.json' with { type: 'json' };

/** The version of this build of the CLI. */
export const VERSION: string = packageJson.version;
