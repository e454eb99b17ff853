// Bundles the agent: dist/apps/agent/rollcall-agent.mjs.
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundleProgram } from '../../infra/build/bundle.mjs';

export const AGENT_FILE = resolve(import.meta.dirname, '../../dist/apps/agent/rollcall-agent.mjs');

/** @param {string} [outfile] where the bundle goes; for tests that must not write to `dist` */
export const build = async (outfile = AGENT_FILE) => {
  await bundleProgram({ app: 'agent', outfile, target: 'node20', versionName: 'ROLLCALL_AGENT_VERSION' });
  return outfile;
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await build();
