import { Refusal } from '@rollcall/decider';
import { PROBLEM_MEDIA_TYPE } from '@rollcall/wire';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { problemOf } from './problem-document.js';

/** Milliseconds in which the answer has to be taken. Who has not finished a TLS handshake never takes it. */
const TAKEN_WITHIN = 1_000;

/**
 * Answers bytes that never became a request (broken syntax, headers that are too large or too slow) in the same form as everything
 * else, and ends the connection. Nothing is logged: the error carries the raw bytes.
 */
export const answerClientError = (error: NodeJS.ErrnoException, socket: Socket): void => {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { problem } = problemOf(
    new Refusal(error.code === 'HPE_HEADER_OVERFLOW' ? 'headers-too-large' : 'bad-request'),
  );
  const body = JSON.stringify(problem);
  socket.setTimeout(TAKEN_WITHIN, () => socket.destroy());
  socket.end(
    [
      `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
      `Content-Type: ${PROBLEM_MEDIA_TYPE}`,
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
    () => socket.destroy(),
  );
};
