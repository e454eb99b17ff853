/** Longest path of a UNIX socket on Linux, in bytes. Node cuts longer ones off without a word and listens under another name. */
export const SOCKET_PATH_LIMIT = 107;

/** Whether the system can bind a socket under this path. */
export const fitsSocketPath = (path: string): boolean => Buffer.byteLength(path) <= SOCKET_PATH_LIMIT;

/** @throws Error with one sentence for a person */
export const refuseLongSocketPath = (path: string): void => {
  if (!fitsSocketPath(path))
    throw new Error(
      `The path of the control socket is ${Buffer.byteLength(path)} bytes long and the system allows ${SOCKET_PATH_LIMIT}: ${path}. Choose a shorter directory for it.`,
    );
};
