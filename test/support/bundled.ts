import { mkdir, rm } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { build, type Plugin } from 'esbuild';

const root = resolve(import.meta.dirname, '../..');

/** A program in TypeScript, made runnable by plain Node for the time of a test. */
export type Bundled = AsyncDisposable & { readonly path: string };

/** Bundles a program of a test. It lies inside the checkout, so that npm packages are found from there. */
export const bundled = async (entry: string): Promise<Bundled> => {
  const directory = join(root, 'node_modules', '.cache', 'rollcall');
  await mkdir(directory, { recursive: true });
  const path = join(directory, `${basename(entry, '.ts')}-${process.pid}.mjs`);
  await build({
    entryPoints: [entry],
    outfile: path,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    conditions: ['source'],
    plugins: [packagesStayOutside],
    logLevel: 'error',
  });
  return { path, [Symbol.asyncDispose]: () => rm(path, { force: true }) };
};

const packagesStayOutside: Plugin = {
  name: 'packages-stay-outside',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === 'entry-point' || path.startsWith('@rollcall/') ? null : { path, external: true },
    ),
};
