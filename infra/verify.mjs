// `npm run verify -- [--json] [--answers FILE.jsonl] DATABASE_URL|--data DIR`: judges a record. Bundles the checker first (0.3 s).
import { ensureInstalled, run } from './ensure-installed.mjs';

await ensureInstalled(import.meta.url);

const { outfile } = await import('../apps/verifier/build.mjs');
// The directory that `npm run` was called in, so that paths mean what the person meant.
const cwd = process.env.INIT_CWD ?? process.cwd();
process.exitCode = await run(process.execPath, [outfile, ...process.argv.slice(2)], { cwd });
