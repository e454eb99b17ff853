import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** A program of ours that serves. */
export type Served = { readonly pid: number; readonly match: RegExpExecArray | null; stop(): Promise<void> };

/** What was begun, ended in reverse order whatever happens. */
export class Begun {
  private readonly undoings: (() => Promise<unknown>)[] = [];

  add(undo: () => Promise<unknown>): void {
    this.undoings.push(undo);
  }

  async end(tell: (line: string) => void): Promise<void> {
    for (const undo of this.undoings.toReversed()) await undo().catch((error: unknown) => tell(String(error)));
  }

  /** Starts a program of ours and waits for the line that says it serves. @throws Error with its output when it ends instead. */
  async serve(args: readonly string[], ready: RegExp, env: Readonly<Record<string, string>> = {}): Promise<Served> {
    const child = spawn(process.execPath, args, {
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], NODE_ENV: 'production', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const stop = () => end(child);
    this.add(stop);
    let output = '';
    await new Promise<void>((resolve, reject) => {
      child.once('exit', (code) => reject(new Error(`${args[0]} ended with ${code}:\n${output}`)));
      // Read on until the end, or the server would wait for us. Some say that they serve where others complain.
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (text: string) => {
          if (output.length < 65_536) output += text;
          if (ready.test(output)) resolve();
        });
    });
    return { pid: child.pid as number, match: ready.exec(output), stop };
  }
}

const end = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
};

/** A port of 127.0.0.1 that nobody listens on just now. */
export const freePort = async (): Promise<number> => {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  return typeof address === 'object' && address ? address.port : 0;
};
