// `npm run openapi [-- --check]`: writes docs/api/<app>.json from what the code says (`document()` of apps/<app>/src/openapi.ts), or
// tells whether the files are current.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureInstalled, root } from './ensure-installed.mjs';

await ensureInstalled(import.meta.url);
const { rspack } = await import('@rspack/core');
const settingsFor = createRequire(import.meta.url)('./build/rspack.config.cjs');

const check = process.argv.includes('--check');
const apps = readdirSync(join(root, 'apps')).filter((app) => existsSync(join(root, 'apps', app, 'src/openapi.ts')));

/** The decorators carry the document, so the sources are compiled as `nest build` compiles them. */
const compile = (app) =>
  new Promise((resolve, reject) => {
    const settings = settingsFor({
      mode: 'none',
      target: 'node',
      context: root,
      entry: join(root, 'apps', app, 'src/openapi.ts'),
      output: {
        filename: `openapi/${app}.js`,
        module: true,
        library: { type: 'module' },
        chunkFormat: 'module',
        chunkLoading: 'import',
      },
    });
    const compiler = rspack(settings);
    compiler.run((error, stats) => {
      compiler.close(() => {});
      if (error || stats.hasErrors()) reject(error ?? new Error(stats.toString({ all: false, errors: true })));
      else resolve(join(root, 'dist/openapi', `${app}.js`));
    });
  });

let isCurrent = true;
mkdirSync(join(root, 'docs/api'), { recursive: true });
for (const app of apps) {
  const { document } = await import(pathToFileURL(await compile(app)).href);
  const text = `${JSON.stringify(await document(), null, 2)}\n`;
  const file = join(root, 'docs/api', `${app}.json`);
  if (existsSync(file) && readFileSync(file, 'utf8') === text) continue;
  isCurrent = false;
  if (check) process.stderr.write(`docs/api/${app}.json is not what the code says; run "npm run openapi"\n`);
  else writeFileSync(file, text);
}
rmSync(join(root, 'dist/openapi'), { recursive: true, force: true });
process.exitCode = check && !isCurrent ? 1 : 0;
