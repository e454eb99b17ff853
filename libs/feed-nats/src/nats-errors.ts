import { JetStreamApiCodes, JetStreamApiError } from '@nats-io/jetstream';
import { errors } from '@nats-io/transport-node';

const STREAM_NAME_IN_USE = 10_058;
const NO_SPACE = 10_047;

const hasCode = (error: unknown, code: number): boolean => error instanceof JetStreamApiError && error.code === code;

/** The server knows no stream of that name. */
export const isNoStream = (error: unknown): boolean => hasCode(error, JetStreamApiCodes.StreamNotFound);

/** The stream knows no consumer of that name. */
export const isNoConsumer = (error: unknown): boolean => hasCode(error, JetStreamApiCodes.ConsumerNotFound);

/** The name is there already, with other settings: somebody was quicker. */
export const isNameInUse = (error: unknown): boolean => hasCode(error, STREAM_NAME_IN_USE);

/** The server has not the space that a stream asks for. */
export const isNoSpace = (error: unknown): boolean => hasCode(error, NO_SPACE);

/** Nobody listens on the subject: the stream is not there, or JetStream as a whole. */
export const isNobodyThere = (error: unknown): boolean => {
  for (let each = error; each instanceof Error; each = each.cause)
    if (each instanceof errors.RequestError && each.isNoResponders()) return true;
  return false;
};

/** What an error of the client says, in one line. */
export const inWords = (error: unknown): string => {
  const text = error instanceof Error ? error.message : String(error);
  return error instanceof JetStreamApiError ? `${text} (${error.code})` : text;
};
