// Bundles the jobs to one file that needs nothing but Node: dist/apps/plane-setup/rollcall-setup.mjs.
import { chmod } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** The bundle. */
export const outfile = fileURLToPath(new URL('../../dist/apps/plane-setup/rollcall-setup.mjs', import.meta.url));

await build({
  entryPoints: [fileURLToPath(new URL('./src/main.ts', import.meta.url))],
  outfile,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node24',
  conditions: ['source'],
  sourcemap: 'linked',
  // Native and edge variants of the database driver, which are asked for only where they are installed.
  external: ['pg-native', 'cloudflare:sockets'],
  // The CommonJS packages inside ask for Node's own modules through `require`.
  banner: {
    js: "#!/usr/bin/env node\nimport { createRequire as rollcallCreateRequire } from 'node:module';\nconst require = rollcallCreateRequire(import.meta.url);",
  },
  logLevel: 'warning',
});
await chmod(outfile, 0o755);
