import { refuseLongSocketPath } from '@rollcall/local-control';
import { ensurePrivateDirectory } from '@rollcall/secret-file';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { EXIT, Told } from '../exit-code.js';

/** Where an installation keeps what it is. Everything in it is readable for its owner only. */
export type StateDirectory = {
  readonly path: string;
  /** The secret that proves this installation (`credential`). */
  readonly credential: string;
  /** The pending one of a rotation, complete in itself (`credential.next`). */
  readonly nextCredential: string;
  /** A secret that was made for an enrolment whose answer has not come yet. */
  readonly enrolling: string;
  /** Finds this installation's own row again; authorises nothing (O5). */
  readonly identifier: string;
  /** Address, pins and machine of the plane. */
  readonly home: string;
  readonly boot: string;
  /** The chain token of the newest answer, from an end in order to the next start. */
  readonly chain: string;
  /** The credential that the plane called revoked. */
  readonly revoked: string;
  readonly latch: string;
  readonly lock: string;
  /** Held for the whole of a rotation: of any number of callers one registers a hash, and the others find it (C05). */
  readonly rotationLock: string;
  readonly controlToken: string;
  readonly socket: string;
  /** What a detached daemon writes. */
  readonly log: string;
};

/**
 * `--state-dir`, else what systemd set, else `~/.local/state/rollcall-agent`. The socket lives in there too, unless `--runtime-dir` says otherwise.
 *
 * @throws Error when the socket's path would be too long
 */
export const stateDirectory = (
  options: { readonly stateDir?: string | undefined; readonly runtimeDir?: string | undefined },
  environment: NodeJS.ProcessEnv,
): StateDirectory => {
  // systemd separates several by a colon; the first is ours.
  const fromManager = environment['STATE_DIRECTORY']?.split(':')[0];
  const path = resolve(options.stateDir ?? (fromManager || join(homedir(), '.local/state/rollcall-agent')));
  const socket = join(resolve(options.runtimeDir ?? path), 'control.sock');
  refuseLongSocketPath(socket);
  return {
    path,
    socket,
    credential: join(path, 'credential'),
    nextCredential: join(path, 'credential.next'),
    enrolling: join(path, 'enrolling'),
    identifier: join(path, 'identifier'),
    home: join(path, 'plane.json'),
    boot: join(path, 'boot'),
    chain: join(path, 'chain'),
    revoked: join(path, 'revoked'),
    latch: join(path, 'stopped-by-person'),
    lock: join(path, 'daemon.lock'),
    rotationLock: join(path, 'rotation.lock'),
    controlToken: join(path, 'control-token'),
    log: join(path, 'agent.log'),
  };
};

/** Makes what is missing, and narrows what is too wide. @throws Told (exit code 2) where that cannot be */
export const openStateDirectory = async (directory: StateDirectory): Promise<void> => {
  for (const path of new Set([directory.path, dirname(directory.socket)]))
    await ensurePrivateDirectory(path).catch((cause: Error) => {
      throw new Told(EXIT.usage, `The directory ${path} cannot be used: ${cause.message}`);
    });
};
