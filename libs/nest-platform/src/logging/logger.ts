import { pino, type DestinationStream, type Logger } from 'pino';

/** The words of a log level, least to most silent. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/**
 * A fault as a line shows it. Nothing but these members: errors of sockets carry addresses and raw bytes of a request, and no
 * address of a machine is ever written down (O2).
 */
const describeFault = (error: unknown): unknown => {
  if (!(error instanceof Error)) return { type: typeof error };
  return {
    type: error.name,
    message: error.message,
    ...('code' in error && typeof error.code === 'string' ? { code: error.code } : {}),
    stack: error.stack,
    ...(error.cause === undefined ? {} : { cause: describeFault(error.cause) }),
  };
};

/** A request as a line shows it: no address, no headers, and no query, which may hold what only its sender should know (O2). */
const describeRequest = ({ id, method, route }: { id?: unknown; method?: unknown; route?: unknown }): unknown => ({
  id,
  method,
  route,
});

const SECRETS = [
  'authorization',
  'cookie',
  'set-cookie',
  'token',
  'secret',
  'credential',
  'password',
  'session',
  'link',
];

/** Makes the JSON logger of an app: one object per line, secrets removed wherever a line might name them. */
export const createLogger = ({
  name,
  level = 'info',
  destination,
}: {
  readonly name: string;
  readonly level?: LogLevel;
  /** (Default: standard output) */
  readonly destination?: DestinationStream;
}): Logger =>
  pino(
    {
      name,
      level,
      // No host name and no process id: the collector knows where a line came from.
      base: { name },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: {
        err: describeFault,
        error: describeFault,
        req: describeRequest,
        res: ({ statusCode }) => ({ statusCode }),
      },
      redact: {
        paths: SECRETS.flatMap((field) => [`["${field}"]`, `*["${field}"]`, `*.headers["${field}"]`]),
        censor: '[removed]',
      },
    },
    destination ?? pino.destination({ sync: true }),
  );
