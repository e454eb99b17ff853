// Bundles the jobs at the database: dist/apps/plane-setup/rollcall-setup.mjs.
import { resolve } from 'node:path';
import { bundleProgram } from '../../infra/build/bundle.mjs';

await bundleProgram({
  app: 'plane-setup',
  outfile: resolve(import.meta.dirname, '../../dist/apps/plane-setup/rollcall-setup.mjs'),
});
