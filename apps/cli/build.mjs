// Bundles the CLI to one file that needs nothing but Node: dist/apps/cli/rollcall.mjs.
import { chmod } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const outfile = fileURLToPath(new URL('../../dist/apps/cli/rollcall.mjs', import.meta.url));

const { metafile } = await build({
  entryPoints: [fileURLToPath(new URL('./src/main.ts', import.meta.url))],
  outfile,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node24',
  conditions: ['source'],
  sourcemap: 'linked',
  metafile: true,
  legalComments: 'linked',
  absWorkingDir: fileURLToPath(new URL('../../', import.meta.url)),
  // The CommonJS packages inside ask for Node's own modules through `require`.
  banner: {
    js: "#!/usr/bin/env node\nimport { createRequire as rollcallCreateRequire } from 'node:module';\nconst require = rollcallCreateRequire(import.meta.url);",
  },
  logLevel: 'warning',
});
await chmod(outfile, 0o755);

/** The files that the bundle was made of, from the root of the repository. */
export const inputs = Object.keys(metafile.inputs);
