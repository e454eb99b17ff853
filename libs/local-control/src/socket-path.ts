/** Longest path of a UNIX socket on Linux, in bytes. Node cuts longer ones off without a word and listens under another name. */
export const SOCKET_PATH_LIMIT = 107;

/** @throws Error with one sentence for a person */
export const refuseLongSocketPath = (path: string): void => {
  const length = Buffer.byteLength(path);
  if (length > SOCKET_PATH_LIMIT)
    throw new Error(
      `The path of the control socket is ${length} bytes long and the system allows ${SOCKET_PATH_LIMIT}: ${path}. Choose a shorter directory for it.`,
    );
};
