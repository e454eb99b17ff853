import type { ConsumerInfo, JetStreamManager } from '@nats-io/jetstream';
import { BATCH_STREAM, FeedMisconfigured } from '@rollcall/feed';
import { compareConfig } from './compare-config.js';
import { inWords, isNameInUse, isNoConsumer, isNoSpace, isNoStream } from './nats-errors.js';
import type { ConsumerSettings, StreamSettings } from './settings.js';

/** Null where the server says that there is none. */
const unlessAbsent = async <Found>(look: Promise<Found>): Promise<Found | null> => {
  try {
    return await look;
  } catch (error) {
    if (isNoStream(error) || isNoConsumer(error)) return null;
    throw error;
  }
};

const nameOf = ({ name }: StreamSettings): string => `stream ${name}`;
const readerOf = ({ durable_name: name }: ConsumerSettings): string => `consumer ${name}`;

/** What of a stream is not as it must be; null where there is no such stream. */
export const streamDrift = async (
  manager: JetStreamManager,
  settings: StreamSettings,
): Promise<readonly string[] | null> => {
  const found = await unlessAbsent(manager.streams.info(settings.name));
  return found && compareConfig(nameOf(settings), settings, found.config);
};

/**
 * Makes a stream where there is none, and answers what of it is not as it must be. One that is there is never changed, and one that was
 * made is read back: a server ignores what it does not know.
 */
export const ensureStream = async (manager: JetStreamManager, settings: StreamSettings): Promise<readonly string[]> => {
  const before = await streamDrift(manager, settings);
  if (before !== null) return before;
  try {
    await manager.streams.add({ ...settings });
  } catch (error) {
    if (!isNameInUse(error)) throw error;
  }
  return (await streamDrift(manager, settings)) ?? [`${nameOf(settings)} is not there after it was made`];
};

/** Changes a stream to what it must be. @throws FeedMisconfigured where the server refuses that or does not do it */
export const changeStream = async (manager: JetStreamManager, settings: StreamSettings): Promise<void> => {
  try {
    await manager.streams.update(settings.name, { ...settings });
  } catch (error) {
    const remedy = isNoSpace(error)
      ? 'give the server more, or ask for less'
      : "delete it, nothing but the feed's copy is lost";
    throw new FeedMisconfigured([`${nameOf(settings)} cannot be changed (${inWords(error)}): ${remedy}`]);
  }
  const left = await streamDrift(manager, settings);
  if (left === null || left.length > 0) throw new FeedMisconfigured(left ?? [`${nameOf(settings)} is not there`]);
};

/**
 * The durable consumer of a reader, made where there is none. Looked for first: to add one under a name that is taken would change it.
 *
 * @throws FeedMisconfigured where it is not as it must be
 */
export const ensureConsumer = async (
  manager: JetStreamManager,
  settings: ConsumerSettings,
): Promise<{ readonly info: ConsumerInfo; readonly isNew: boolean }> => {
  const name = settings.durable_name ?? '';
  const look = () => manager.consumers.info(BATCH_STREAM, name);
  let info = await unlessAbsent(look());
  const isNew = info === null;
  if (info === null) {
    await manager.consumers.add(BATCH_STREAM, { ...settings });
    info = await look();
  }
  const drift = compareConfig(readerOf(settings), settings, info.config);
  if (drift.length > 0) throw new FeedMisconfigured(drift);
  return { info, isNew };
};

/** The consumers that are there, by name, with what of each is not as it must be. */
export const consumerDrift = async (
  manager: JetStreamManager,
  settingsOf: (reader: string) => ConsumerSettings,
): Promise<ReadonlyMap<string, readonly string[]>> => {
  const found = new Map<string, readonly string[]>();
  try {
    for await (const { name, config } of manager.consumers.list(BATCH_STREAM))
      found.set(name, compareConfig(readerOf(settingsOf(name)), settingsOf(name), config));
  } catch (error) {
    if (!isNoStream(error)) throw error;
  }
  return found;
};
