// Bundles the simulated fleet: dist/apps/fleet-simulator/fleet-simulator.mjs.
import { resolve } from 'node:path';
import { bundleProgram } from '../../infra/build/bundle.mjs';

const outfile = resolve(import.meta.dirname, '../../dist/apps/fleet-simulator/fleet-simulator.mjs');

await bundleProgram({ app: 'fleet-simulator', outfile });
