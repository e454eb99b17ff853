// The real agent in a process of its own, which is killed between two steps of a rotation. The first argument says where, as JSON; the second is
// its state directory.
import { run, stateDirectory, type RotationStep } from '@rollcall/agent/testing';

/** Where it ends: after a step of the rotation to this generation. */
export type Task = { readonly step: RotationStep; readonly generation: number };

const [, , task = '', stateDir = ''] = process.argv;
const { step, generation } = JSON.parse(task) as Task;

process.exitCode = await run(stateDirectory({ stateDir }, {}), {}, (reached, of) => {
  if (reached === step && of === generation) process.kill(process.pid, 'SIGKILL');
});
