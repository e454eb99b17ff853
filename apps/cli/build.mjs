// Bundles the operators' tool: dist/apps/cli/rollcall.mjs.
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundleProgram, replace } from '../../infra/build/bundle.mjs';

const dist = resolve(import.meta.dirname, '../../dist/apps/cli');
export const CLI_FILE = resolve(dist, 'rollcall.mjs');
/** The files that the bundle was made of, from the root of the checkout. */
export const INPUTS_FILE = resolve(dist, 'inputs.json');

export const build = async () => {
  const program = { app: 'cli', outfile: CLI_FILE, target: 'node20', versionName: 'ROLLCALL_CLI_VERSION' };
  await replace(INPUTS_FILE, JSON.stringify(await bundleProgram(program)));
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await build();
