// Prints each ledger event of the plane once, one line per event, and goes on through restarts of either side. Plain Node 20 or newer:
//
//   npm install @nats-io/transport-node @nats-io/jetstream
//   NATS_URL=nats://127.0.0.1:4222 NATS_USER=subscriber NATS_PASSWORD=… node subscriber.mjs my-name 'rollcall.machine.*.*'
//
// The name is kept by the server: with the same name it goes on where it was. The contract is in docs/subscribing.md.
import { setTimeout as wait } from 'node:timers/promises';
import { AckPolicy, DeliverPolicy, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';

const STREAM = 'ROLLCALL';
const [name = 'example', filter = 'rollcall.*.*.*'] = process.argv.slice(2);

const connection = await connect({
  servers: process.env.NATS_URL ?? 'nats://127.0.0.1:4222',
  user: process.env.NATS_USER,
  pass: process.env.NATS_PASSWORD,
  inboxPrefix: '_INBOX_subscriber', // where the server's rights let a subscriber listen
  maxReconnectAttempts: -1,
  waitOnFirstConnect: true,
});

// The client comes back whatever happens, but gives up where the server refuses the password again and again: then this ends as well.
void connection.closed().then((error) => {
  process.stderr.write(`${error?.message ?? 'The connection is closed'}\n`);
  process.exit(1);
});

const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stopping.abort());

// Delivery is at least once, so events come again. Only the newest ids are remembered here, and only while this runs: what must not
// be done twice notes the id together with what it does, in one transaction.
const seen = new Set();
const isNew = ({ id }) => {
  if (seen.has(id)) return false;
  seen.add(id);
  if (seen.size > 100_000) seen.delete(seen.values().next().value);
  return true;
};

const handle = ({ recordedAt, type, stream, actor, body }) =>
  process.stdout.write(`${recordedAt} ${type} ${stream} by ${actor.kind} ${actor.id} ${JSON.stringify(body)}\n`);

/** Takes what comes until something goes wrong, or it is told to stop. */
const follow = async () => {
  const manager = await jetstreamManager(connection, { checkAPI: false });
  // Makes it, or finds it: the server may have lost it together with its store.
  await manager.consumers.add(STREAM, {
    durable_name: name,
    filter_subject: filter,
    ack_policy: AckPolicy.Explicit,
    deliver_policy: DeliverPolicy.All,
  });
  const consumer = await jetstream(connection, { checkAPI: false }).consumers.get(STREAM, name);
  while (!stopping.signal.aborted) {
    const messages = await consumer.fetch({ max_messages: 100, expires: 5_000 });
    const stop = () => void messages.close();
    stopping.signal.addEventListener('abort', stop);
    for await (const message of messages) {
      const event = message.json();
      if (isNew(event)) handle(event);
      message.ack(); // not before it was handled
    }
    stopping.signal.removeEventListener('abort', stop);
  }
};

while (!stopping.signal.aborted) {
  try {
    await follow();
  } catch (error) {
    process.stderr.write(`trying again: ${error.message}\n`);
    await wait(1_000, undefined, { signal: stopping.signal }).catch(() => {});
  }
}
// The last acknowledgements are sent, unless the server is away.
await Promise.race([connection.flush(), wait(1_000)]).catch(() => {});
process.exit();
