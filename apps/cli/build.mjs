// Bundles the CLI into one file, dist/apps/cli/rollcall.mjs: what is copied to an operator's computer, with nothing beside it but Node.
import { build as bundle } from 'esbuild';
import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const root = resolve(import.meta.dirname, '../..');
export const CLI_FILE = resolve(root, 'dist/apps/cli/rollcall.mjs');
/** The files that the bundle was made of, from the root of the checkout. */
export const INPUTS_FILE = resolve(root, 'dist/apps/cli/inputs.json');

export const build = async () => {
  const { version } = JSON.parse(await readFile(resolve(import.meta.dirname, 'package.json'), 'utf8'));
  const { metafile, outputFiles } = await bundle({
    entryPoints: [resolve(import.meta.dirname, 'src/main.ts')],
    absWorkingDir: root,
    outfile: CLI_FILE,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    conditions: ['source'],
    define: { ROLLCALL_CLI_VERSION: JSON.stringify(version) },
    banner: {
      // What a bundled CommonJS package still calls `require` for are Node's own modules.
      js: "#!/usr/bin/env node\nimport { createRequire as rollcallRequire } from 'node:module';\nconst require = rollcallRequire(import.meta.url);",
    },
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
    write: false,
  });
  await mkdir(dirname(CLI_FILE), { recursive: true });
  const inputs = [...Object.keys(metafile.inputs), 'apps/cli/build.mjs', 'apps/cli/package.json'];
  await replace(INPUTS_FILE, JSON.stringify(inputs), 0o644);
  await replace(CLI_FILE, outputFiles[0].contents, 0o755);
};

/** Whole or not at all: two runs may find it stale at once, and a third may be starting it. */
const replace = async (file, content, mode) => {
  const temporary = `${file}.${process.pid}`;
  await writeFile(temporary, content);
  await chmod(temporary, mode);
  await rename(temporary, file);
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await build();
