// Bundles the checker of the record: dist/apps/verifier/rollcall-verify.mjs.
import { resolve } from 'node:path';
import { bundleProgram } from '../../infra/build/bundle.mjs';

/** The bundle. */
export const outfile = resolve(import.meta.dirname, '../../dist/apps/verifier/rollcall-verify.mjs');

await bundleProgram({ app: 'verifier', outfile });
