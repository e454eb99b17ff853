// Bundles a plain Node program into one file: what is copied to another computer, with nothing beside it but Node.
import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { build } from 'esbuild';

const root = resolve(import.meta.dirname, '../..');

/**
 * Takes Node's own modules by `require`. An `import` reads every export of a module, also those that load something when they are looked at:
 * `node:http` loads the whole of fetch, which was a quarter of the time that a short command took.
 */
const requireBuiltins = {
  name: 'require-builtins',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^node:/ }, ({ path, kind }) =>
      kind === 'require-call' ? undefined : { path, namespace: 'builtin' },
    );
    onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({ contents: `module.exports = require('${path}')` }));
  },
};

/**
 * @param {object} program
 * @param {string} program.app its folder under `apps/`; the program is `src/main.ts` there
 * @param {string} program.outfile
 * @param {string} [program.target] the oldest Node that it has to run on (Default: node24)
 * @param {string} [program.versionName] a name in the source that stands for the version in the app's package.json
 * @returns the files that it was made of, from the root of the checkout
 */
export const bundleProgram = async ({ app, outfile, target = 'node24', versionName }) => {
  const directory = join(root, 'apps', app);
  const { version } = JSON.parse(await readFile(join(directory, 'package.json'), 'utf8'));
  const { metafile, outputFiles } = await build({
    entryPoints: [join(directory, 'src/main.ts')],
    absWorkingDir: root,
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target,
    conditions: ['source'],
    plugins: [requireBuiltins],
    ...(versionName ? { define: { [versionName]: JSON.stringify(version) } } : {}),
    // Native and edge variants of the database driver and native parts of the SSH client, which are asked for only where they are installed.
    external: ['pg-native', 'cloudflare:sockets', 'cpu-features', '*.node'],
    banner: {
      // What a bundled CommonJS package still calls `require` for are Node's own modules; some want to know where they are as well.
      js: "#!/usr/bin/env node\nimport { createRequire as rollcallRequire } from 'node:module';\nconst require = rollcallRequire(import.meta.url);\nconst __dirname = import.meta.dirname;",
    },
    logLevel: 'warning',
    metafile: true,
    write: false,
  });
  await mkdir(dirname(outfile), { recursive: true });
  await replace(outfile, outputFiles[0].contents, 0o755);
  return [
    ...Object.keys(metafile.inputs).filter((input) => !input.startsWith('builtin:')),
    `apps/${app}/build.mjs`,
    `apps/${app}/package.json`,
    'infra/build/bundle.mjs',
  ];
};

/** Whole or not at all: two runs may find it stale at once, and a third may be starting it. */
export const replace = async (file, content, mode = 0o644) => {
  const temporary = `${file}.${process.pid}`;
  await writeFile(temporary, content);
  await chmod(temporary, mode);
  await rename(temporary, file);
};
