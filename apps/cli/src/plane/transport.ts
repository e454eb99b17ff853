/** One request to the operator API. */
export type TransportRequest = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query. */
  readonly path: string;
  /** `rco_…`, where somebody is signed in. */
  readonly session: string | null;
  readonly body?: unknown;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
};

/** Whatever answered, with whatever status. */
export type TransportAnswer = {
  readonly status: number;
  /** The `Retry-After` header in seconds, where it is a number. */
  readonly retryAfter?: number;
  /** The parsed body; undefined where there is none, or where it is not JSON. */
  readonly body: unknown;
};

/** One exchange. Rejects when no answer came: with a `Failure` where that is final, with anything else where it may pass. */
export type Transport = (request: TransportRequest) => Promise<TransportAnswer>;

/** A request whose answer goes on and on. */
export type StreamRequest = Omit<TransportRequest, 'method' | 'body' | 'signal'> & {
  /** Where the stream was that this one goes on with. */
  readonly lastEventId: string | null;
  readonly signal: AbortSignal;
};

/** Its text as it arrives; or, with any other status than 200, what was answered instead. Rejects as a {@link Transport}; `timeoutMs` is for the head. */
export type StreamTransport = (
  request: StreamRequest,
) => Promise<TransportAnswer | { readonly status: 200; readonly text: AsyncIterable<string> }>;
