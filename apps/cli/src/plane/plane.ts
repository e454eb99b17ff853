import { setTimeout as delay } from 'node:timers/promises';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { EXIT, Failure, Interrupted } from '../failure.js';
import { failureOf, Refused } from './problem-failure.js';
import type { StreamTransport, Transport, TransportAnswer, TransportRequest } from './transport.js';

/** No answer came. What was asked for may have happened all the same. */
export class PlaneAway extends Failure {}

const TIMEOUT_MS = 10_000;
/** Three times what a plane is silent for at most, while nothing happens. */
const SILENCE_MS = 45_000;
/** Characters of one event. */
const EVENT_LIMIT = 16 * 1_024 * 1_024;
const ATTEMPTS = 3;
const LONGEST_WAIT_MS = 5_000;

/** A server-sent event. */
export type PlaneEvent = { readonly id: string | null; readonly event: string; readonly data: unknown };

/** How somebody waits who may stop waiting. */
type Patience = {
  readonly signal: AbortSignal;
  /** Rejects when the signal aborts. */
  readonly pause: (milliseconds: number, signal: AbortSignal) => Promise<void>;
};

/** The operator API as the commands see it. */
export class Plane {
  constructor(
    readonly address: string,
    private readonly transport: Transport,
    private readonly session: string | null,
    private readonly streams: StreamTransport = () => Promise.reject(new Error('nothing is streamed here')),
  ) {}

  /** Asks something. Given up at once when the signal aborts. */
  async read<Answer>(path: string, signal: AbortSignal): Promise<Answer> {
    try {
      return (await this.exchange({ method: 'GET', path, signal })) as Answer;
    } catch (cause) {
      if (signal.aborted) throw new Interrupted('interrupted', { cause });
      throw cause;
    }
  }

  /**
   * The same for one of many answers that are worth something only together: asked three times in all where no answer came or the plane could not
   * answer just then.
   */
  async readPatiently<Answer>(path: string, { signal, pause }: Patience): Promise<Answer> {
    return this.repeated(
      () => this.read<Answer>(path, signal),
      (ms) => pause(ms, signal),
    );
  }

  /**
   * What a plane tells for as long as it tells. Ends when the plane ends it.
   *
   * @param lastEventId where an earlier stream was
   * @throws PlaneAway also when nothing at all came for 45 s: then there is nobody any more
   */
  async *events(path: string, lastEventId: string | null, signal: AbortSignal): AsyncGenerator<PlaneEvent> {
    const silent = new AbortController();
    const timer = setTimeout(() => silent.abort(), SILENCE_MS);
    try {
      const answer = await this.streams({
        path,
        session: this.session,
        lastEventId,
        timeoutMs: TIMEOUT_MS,
        signal: AbortSignal.any([signal, silent.signal]),
      });
      if (!('text' in answer)) throw failureOf(answer, this.address);
      const parsed: EventSourceMessage[] = [];
      const parser = createParser({ onEvent: (event) => parsed.push(event), maxBufferSize: EVENT_LIMIT });
      for await (const piece of answer.text) {
        timer.refresh();
        parser.feed(piece);
        for (const { id = null, event = 'message', data } of parsed.splice(0))
          yield { id, event, data: JSON.parse(data) as unknown };
      }
    } catch (cause) {
      if (signal.aborted) throw new Interrupted('interrupted', { cause });
      throw silent.signal.aborted ? this.noAnswer(new Error('it fell silent')) : this.noAnswer(cause);
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Changes something that carries its own command id, so it is sent again (three times in all) when no answer came or the plane
   * could not record it: whatever happened before, it happens once. Not interrupted: its outcome is always told.
   */
  async write<Answer>(method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: unknown): Promise<Answer> {
    return this.repeated(() => this.writeOnce<Answer>(method, path, body), delay);
  }

  /** Changes something that must not be sent twice. */
  async writeOnce<Answer>(method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: unknown): Promise<Answer> {
    return (await this.exchange({ method, path, body })) as Answer;
  }

  /** Asks something whose refusals the caller reads. @throws PlaneAway */
  async answerTo(method: 'POST', path: string, body: unknown): Promise<TransportAnswer> {
    return this.answer({ method, path, body });
  }

  private async repeated<Answer>(
    attempt: () => Promise<Answer>,
    pause: (ms: number) => Promise<unknown>,
  ): Promise<Answer> {
    for (let attempts = 1; ; attempts += 1) {
      try {
        return await attempt();
      } catch (failure) {
        const wait = waitBeforeRetry(failure);
        if (attempts === ATTEMPTS || wait === undefined) throw failure;
        await pause(Math.min(wait, LONGEST_WAIT_MS));
      }
    }
  }

  private async exchange(request: Pick<TransportRequest, 'method' | 'path' | 'body' | 'signal'>): Promise<unknown> {
    const answer = await this.answer(request);
    if (answer.status >= 200 && answer.status < 300) return answer.body;
    throw failureOf(answer, this.address);
  }

  private async answer(
    request: Pick<TransportRequest, 'method' | 'path' | 'body' | 'signal'>,
  ): Promise<TransportAnswer> {
    try {
      return await this.transport({ ...request, session: this.session, timeoutMs: TIMEOUT_MS });
    } catch (cause) {
      throw this.noAnswer(cause);
    }
  }

  private noAnswer(cause: unknown): Failure {
    if (cause instanceof Failure) return cause;
    const what = cause instanceof Error ? cause.message : String(cause);
    return new PlaneAway(`The plane at ${this.address} does not answer (${what}).`, EXIT.failed, { cause });
  }
}

/** Milliseconds; undefined where sending it again would not help. */
const waitBeforeRetry = (failure: unknown): number | undefined => {
  if (failure instanceof PlaneAway) return 500;
  return failure instanceof Refused ? failure.retryAfterMs : undefined;
};
