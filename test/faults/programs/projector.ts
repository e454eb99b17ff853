// The real projector in a process of its own, which is killed or stopped between two steps, for the fault tests. The first argument says where, as
// JSON; everything else is in the environment, as for any projector.
import { createLogger } from '@rollcall/nest-platform';
import { readProjectorConfig, start, type Reached } from '@rollcall/projector';

/** Where it ends, or stands still. */
export type Task = {
  /** `relay`, or the name of a read model. */
  readonly loop: Parameters<Reached>[0];
  /** What it has done last, one after the other. */
  readonly steps: readonly Parameters<Reached>[1][];
  /** The how-manieth time it has done so. */
  readonly time: number;
  readonly signal: 'SIGKILL' | 'SIGSTOP';
};

const task = JSON.parse(process.argv[2] ?? '') as Task;
let recent: Task['steps'] = [];
let times = 0;
const reached: Reached = (loop, step) => {
  if (loop !== task.loop) return;
  recent = [...recent, step].slice(-task.steps.length);
  if (recent.join() !== task.steps.join()) return;
  times += 1;
  if (times === task.time) process.kill(process.pid, task.signal);
};

await start(readProjectorConfig(process.env), createLogger({ name: 'projector' }), reached);
