import { EmbeddedNats, findNatsServer, type NatsServer } from '@rollcall/embedded-nats';
import { NATS_RIGHTS } from '@rollcall/feed-nats';
import type { DataDirectory } from './data-directory.js';
import type { StandaloneOptions } from './options.js';

/** MiB, on a disk that is nobody's server: what a day of ledger events and an hour of batches may take at most. */
const KEPT = { events: '256', batches: '128' };

/**
 * Starts a nats-server where this machine has one. Where it has none, or none is wanted, the read models follow the record itself.
 *
 * @throws NatsPortTaken, or Error when there is one and it does not start
 */
export const openNats = async (
  { nats: directory }: DataDirectory,
  { nats: isWanted, natsPort: port }: StandaloneOptions,
  tell: (line: string) => void,
  find: () => Promise<NatsServer | null> = () => findNatsServer(process.env),
): Promise<EmbeddedNats | null> => {
  const program = isWanted ? await find() : null;
  if (program === null) {
    await EmbeddedNats.stopAt(directory);
    if (isWanted)
      tell('There is no nats-server, so read models follow the record itself. To have one: apt install nats-server');
    return null;
  }
  tell(`NATS ${program.version} starts in ${directory}`);
  return EmbeddedNats.open({
    directory,
    port,
    program,
    users: Object.entries(NATS_RIGHTS).map(([name, rights]) => ({ name, ...rights })),
    onUnexpectedEnd: (how) => tell(`The nats-server ended (${how}), and is started again`),
  });
};

/** The settings by which the projector finds it. */
export const natsEnvironment = (nats: EmbeddedNats): Record<string, string> => ({
  ROLLCALL_NATS_URL: nats.url,
  ROLLCALL_NATS_RELAY_CREDENTIALS_FILE: nats.credentialsFile('relay'),
  ROLLCALL_NATS_READER_CREDENTIALS_FILE: nats.credentialsFile('projector'),
  ROLLCALL_NATS_EVENTS_MIB: KEPT.events,
  ROLLCALL_NATS_BATCHES_MIB: KEPT.batches,
});
