import type { Logger } from 'pino';
import { ConfigError } from '@rollcall/settings';

/** Something that runs until it is closed. */
export type Running = { close(): Promise<void>; reload?(): Promise<void> };

/**
 * Runs an app as a process: SIGTERM or SIGINT closes it in order, a second one ends it at once, SIGHUP reloads what can be
 * reloaded. A failed start prints its one message and exits with 1, or with 78 (EX_CONFIG) when the configuration is to blame.
 */
export const runApp = async (start: () => Promise<Running>, logger: () => Logger): Promise<void> => {
  let running: Running;
  try {
    running = await start();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = error instanceof ConfigError ? 78 : 1;
    return;
  }
  let stopping = false;
  const stop = (): void => {
    if (stopping) process.exit(1);
    stopping = true;
    running.close().then(
      () => {
        for (const signal of ['SIGTERM', 'SIGINT'] as const) process.removeListener(signal, stop);
        process.removeListener('SIGHUP', reload);
      },
      (error: unknown) => {
        logger().error({ err: error }, 'the app did not stop in order');
        process.exit(1);
      },
    );
  };
  const reload = (): void => void running.reload?.();
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  process.on('SIGHUP', reload);
};
