import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { getCACertificates } from 'node:tls';
import { mayConnect, type AllowedTarget } from './address.js';
import { outcomeOf, retryAfterSeconds, type Attempt, type Outcome } from './outcome.js';
import { nameOf, type Target } from './target.js';

/** How long an attempt may take, and how much of an answer is read. */
export type AttemptLimits = {
  /** Milliseconds for the name, and again for the connection with its TLS. */
  readonly connect: number;
  /** Milliseconds for all that follows from a target. */
  readonly whole: number;
  /** Milliseconds for what follows the head of an answer. */
  readonly rest: number;
  /** Bytes of an answer; they are thrown away. */
  readonly answer: number;
  /** Milliseconds that attempts under way are left when their worker ends. */
  readonly ending: number;
};

/** As in Standard Webhooks, which advises 15 to 30 seconds. */
export const LIMITS: AttemptLimits = { connect: 5_000, whole: 15_000, rest: 1_000, answer: 65_536, ending: 4_000 };

/** What is sent. */
export type Sent = { readonly headers: Readonly<Record<string, string>>; readonly body: string };

/** How it is sent. */
export type SendOptions = {
  readonly allowed: readonly AllowedTarget[];
  /** An authority that is believed beside those of the system, PEM. */
  readonly ca: string | null;
  readonly limits: AttemptLimits;
  /** Ends the attempt without an outcome. */
  readonly signal: AbortSignal;
};

/** Where an attempt has got to: what an error means depends on it. */
type Phase = 'not-connected' | 'tls-failed' | 'broken-off';

/**
 * Posts once, to one of the addresses that were checked and to no other, on a connection of its own; follows nothing, and keeps nothing of
 * the answer but its status.
 *
 * @throws the signal's reason
 */
export const sendOnce = (
  { url, addresses }: Target,
  { headers, body }: Sent,
  { allowed, ca, limits, signal }: SendOptions,
): Promise<Attempt> =>
  new Promise((resolve, reject) => {
    const encrypted = url.protocol === 'https:';
    let phase: Phase = 'not-connected';
    let answer: IncomingMessage | null = null;
    const request = (encrypted ? https : http).request(url, {
      method: 'POST',
      agent: false,
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
      lookup: onlyTo(addresses),
      ...(isIP(nameOf(url)) === 0 && { servername: nameOf(url) }),
      ...(ca !== null && { ca: [...getCACertificates('default'), ca] }),
    });
    const end = (outcome: Outcome): void => {
      clearTimeout(connecting);
      clearTimeout(over);
      signal.removeEventListener('abort', abort);
      request.destroy();
      const retryAfter = outcome === 'throttled' ? retryAfterSeconds(answer?.headers['retry-after'], Date.now()) : null;
      resolve({ outcome, status: answer?.statusCode ?? null, retryAfter });
    };
    /** Once there is an answer it has been said: what is still to come, or never comes, changes nothing. */
    const finish = (otherwise: Outcome): void => end(answer === null ? otherwise : outcomeOf(answer.statusCode ?? 0));
    const abort = (): void => {
      reject(signal.reason as Error);
      end('broken-off');
    };
    const connecting = setTimeout(() => finish('timed-out'), limits.connect);
    let over = setTimeout(() => finish('timed-out'), limits.whole);
    signal.addEventListener('abort', abort);
    if (signal.aborted) return abort();

    request.on('socket', (socket) => {
      socket.on('connect', () => {
        const [address, port] = [socket.remoteAddress ?? '', socket.remotePort ?? 0];
        if (!mayConnect({ address, port, encrypted }, allowed)) return end('address-not-allowed');
        phase = encrypted ? 'tls-failed' : 'broken-off';
        if (!encrypted) clearTimeout(connecting);
      });
      socket.on('secureConnect', () => {
        phase = 'broken-off';
        clearTimeout(connecting);
      });
    });
    request.on('response', (response) => {
      answer = response;
      // All that counts is there; the rest is only waited for out of politeness.
      clearTimeout(over);
      over = setTimeout(() => finish(phase), limits.rest);
      let read = 0;
      response.on('data', (chunk: Buffer) => {
        read += chunk.length;
        if (read > limits.answer) finish(phase);
      });
      response.on('end', () => finish(phase));
      response.on('error', () => finish(phase));
    });
    request.on('error', () => finish(phase));
    request.on('close', () => finish(phase));
    request.end(body);
  });

/** A name stands for what was checked, whatever it stands for by now. */
const onlyTo = (addresses: readonly string[]): LookupFunction => {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_name, { all: isAllWanted }, done) => {
    const [first] = all;
    if (first === undefined) done(new Error('There is no address'), '');
    else if (isAllWanted) done(null, all);
    else done(null, first.address, first.family);
  };
};
