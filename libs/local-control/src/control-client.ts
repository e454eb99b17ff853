import { request } from 'node:http';
import type { ControlAnswer } from './control-server.js';
import { refuseLongSocketPath } from './socket-path.js';

/** One question to a daemon. `token` is what that daemon wrote at its start; `body` becomes JSON. */
export type ControlCall = {
  readonly socketPath: string;
  readonly token: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: unknown;
  /** Milliseconds for the whole call. (Default: 10,000) */
  readonly timeoutMs?: number;
};

/**
 * Asks a daemon on this machine.
 *
 * @returns null when nobody listens there
 * @throws Error when somebody does and gives no proper answer in time
 */
export const callControl = ({
  socketPath,
  token,
  method,
  path,
  body,
  timeoutMs = 10_000,
}: ControlCall): Promise<ControlAnswer | null> => {
  refuseLongSocketPath(socketPath);
  const text = body === undefined ? '' : JSON.stringify(body);
  const deadline = AbortSignal.timeout(timeoutMs);
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        socketPath,
        method,
        path,
        headers: { authorization: `Bearer ${token}`, 'content-length': Buffer.byteLength(text) },
        signal: deadline,
      },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('error', reject);
        answer.on('end', () => {
          const answered = parse(Buffer.concat(chunks).toString('utf8'));
          if (answered === undefined) reject(new Error('The daemon answered something that is not JSON'));
          else resolve({ status: answer.statusCode ?? 0, body: answered });
        });
      },
    );
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ECONNREFUSED') resolve(null);
      else if (deadline.aborted)
        reject(new Error(`The daemon does not answer within ${timeoutMs / 1_000} s`, { cause: error }));
      else reject(error);
    });
    outgoing.end(text);
  });
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
};
