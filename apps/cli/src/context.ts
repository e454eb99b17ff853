import type { Readable } from 'node:stream';
import type { PlaneAddress } from '@rollcall/wire';
import type { Output, Screen } from './output/output.js';
import type { Plane } from './plane/plane.js';
import type { SessionFile } from './session/session-file.js';

/** What stands around a run of the CLI: the process it is, or what a test puts in its place. */
export type Surroundings = {
  readonly stdin: Readable & { readonly isTTY?: boolean; setRawMode?(raw: boolean): unknown };
  readonly stdout: Screen;
  readonly stderr: Screen;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborted by Ctrl-C and SIGTERM. Ends waiting, never a write that was sent: its outcome is waited for and told. */
  readonly signal: AbortSignal;
  /** Waits between two looks while watching; rejects when the signal aborts. */
  readonly pause: (milliseconds: number, signal: AbortSignal) => Promise<void>;
};

/** What a command works with. */
export type Context = {
  readonly surroundings: Surroundings;
  readonly output: Output;
  readonly sessions: SessionFile;
  /** The plane of the stored session. @throws Failure (exit code 3) when nobody is signed in here. */
  readonly plane: () => Promise<Plane>;
  /** A plane that is reached with another session than the stored one. (Default: none yet) */
  readonly planeAt: (place: PlaneAddress, session?: string) => Plane;
};
