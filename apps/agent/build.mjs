// Bundles the agent into one file, dist/apps/agent/rollcall-agent.mjs: what is copied to a machine, with nothing beside it but Node.
import { build as bundle } from 'esbuild';
import { chmod, readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const root = resolve(import.meta.dirname, '../..');
export const AGENT_FILE = resolve(root, 'dist/apps/agent/rollcall-agent.mjs');

/** @param {string} [outfile] where the bundle goes; for tests that must not write to `dist` */
export const build = async (outfile = AGENT_FILE) => {
  const { version } = JSON.parse(await readFile(resolve(import.meta.dirname, 'package.json'), 'utf8'));
  await bundle({
    entryPoints: [resolve(import.meta.dirname, 'src/main.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    conditions: ['source'],
    define: { ROLLCALL_AGENT_VERSION: JSON.stringify(version) },
    banner: {
      // What a bundled CommonJS package still calls `require` for are Node's own modules.
      js: "#!/usr/bin/env node\nimport { createRequire as rollcallRequire } from 'node:module';\nconst require = rollcallRequire(import.meta.url);",
    },
    legalComments: 'none',
    logLevel: 'warning',
  });
  await chmod(outfile, 0o755);
  return outfile;
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await build();
