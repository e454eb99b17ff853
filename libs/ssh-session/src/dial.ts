import { connect } from 'node:net';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import type { Client, ServerHostKeyAlgorithm } from 'ssh2';
import { Authentication } from './authentication.js';
import type { Destination } from './destination.js';
import { DialLimit } from './dial-limit.js';
import { HostKeyChanged, HostKeyUnknown, hostKeyOf, type HostKey } from './host-key.js';
import { openHop, type HopOptions } from './hop.js';
import type { Pin, PinStore } from './pin-store.js';
import type { Dial, Link, SshTarget } from './ports.js';
import { SystemSessionClock, type SessionClock } from './session-clock.js';
import { Hops, SshLink } from './ssh-link.js';

/** What a dial needs of those around it. */
export type DialingOptions = {
  readonly pins: PinStore;
  /** What a target stands for. @throws DestinationRefused */
  readonly resolve: (target: SshTarget, signal: AbortSignal) => Promise<Destination>;
  /**
   * Asks a person whether a key is that of the host, for as long as it takes: nothing is connected meanwhile. For a
   * host whose key has changed `pinned` is the one before.
   */
  readonly confirm: (question: HostKeyQuestion, signal: AbortSignal) => Promise<boolean>;
  /** Told why a connection of a forward was not carried. (Default: nobody) */
  readonly onRefused?: (error: Error) => void;
};

/** What a person is asked at first contact. */
export type HostKeyQuestion = {
  readonly host: string;
  readonly presented: HostKey;
  readonly pinned: HostKey | null;
  /** The host in between whose own key this is: it may be answering in place of the host behind it. (Default: null) */
  readonly sameAs?: string | null;
};

/**
 * Dials over ssh2: the person's configuration, one bastion at most, the keys of the person, and hosts whose keys are pinned. A host that
 * is met for the first time is left again at once, before anything is sent to authenticate; a person is asked; then it is dialled anew.
 */
export const sshDial = (options: DialingOptions): Dial => sshDialIn(new SystemSessionClock(), options);

/** The same in a clock of a test's. Of this lib only: its own entry has no such thing (T-1.10). */
export const sshDialIn =
  (clock: SessionClock, { pins, resolve, confirm, onRefused }: DialingOptions): Dial =>
  async (target, { signal }) => {
    // What cannot be honoured is refused first, and without its pins nobody is dialled.
    const destination = await resolve(target, signal);
    const route = [...(destination.bastion ? [destination.bastion] : []), destination];
    const asked = new Set<string>();
    for (;;) {
      signal.throwIfAborted();
      const chain = await Promise.all(
        route.map(async (hop) => ({ destination: hop, pin: await pins.pinOf(hop.pinName) })),
      );
      try {
        return await within(clock, signal, (over, limit) => connectThrough(chain, limit, over, onRefused));
      } catch (error) {
        if (!(error instanceof HostKeyUnknown || error instanceof HostKeyChanged)) throw error;
        const { host, presented } = error;
        // A host that has one key after the other would be asked about for ever.
        if (asked.has(host)) throw error;
        asked.add(host);
        const before = error instanceof HostKeyChanged ? error.pinned : null;
        const between = chain.find(
          ({ destination: { pinName }, pin }) => pinName !== host && pin?.blob === presented.blob,
        );
        const sameAs = between?.destination.pinName ?? null;
        if (!(await confirm({ host, presented, pinned: before, sameAs }, signal))) throw error;
        signal.throwIfAborted();
        await pins.pin(host, presented, before, new Date());
      }
    }
  };

/** Like `withDeadline`, but waits for the end of what it has called off: nothing may be left behind. */
const within = async <T>(
  clock: SessionClock,
  outer: AbortSignal,
  work: (over: AbortSignal, limit: DialLimit) => Promise<T>,
): Promise<T> => {
  const limit = new DialLimit(clock);
  const settled = new AbortController();
  try {
    return await work(AbortSignal.any([outer, limit.signal, settled.signal]), limit);
  } catch (error) {
    outer.throwIfAborted();
    if (limit.signal.aborted) throw new Error((limit.signal.reason as Error).message, { cause: error });
    throw error;
  } finally {
    limit.end();
    settled.abort();
  }
};

type PinnedHop = { readonly destination: Destination; readonly pin: Pin | null };

/** How long one of several addresses of a host is tried before the next, in milliseconds; Node's own 250 are less than a slow path needs. */
const ADDRESS_LIMIT_MS = 5_000;

/** @param signal aborted when the dial is called off, is late or has ended */
const connectThrough = async (
  chain: readonly PinnedHop[],
  limit: DialLimit,
  signal: AbortSignal,
  onRefused?: (error: Error) => void,
): Promise<Link> => {
  const [first] = chain;
  if (!first) throw new Error('There is nobody to dial');
  const proofs = await Promise.all(chain.map(({ destination }) => Authentication.prepare(destination, limit, signal)));
  signal.throwIfAborted();
  const { host, port, family, localAddress } = first.destination;
  const hops = new Hops();
  const socket = connect({
    host,
    port,
    family,
    noDelay: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_LIMIT_MS,
    ...(localAddress === null ? {} : { localAddress }),
  });
  // The client hears of it as well; before there is one, nobody else does.
  socket.on('error', () => {});
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const abandon = () => socket.destroy();
  signal.addEventListener('abort', abandon);
  try {
    await once(socket, 'connect', { signal });
    let sock: Duplex = socket;
    for (const [index, hop] of chain.entries()) {
      await enter(sock, hop, proofs[index]!, hops);
      const next = chain[index + 1];
      if (next) sock = await channelTo(hops.inner.client, next.destination);
    }
    signal.throwIfAborted();
    return new SshLink(chain.at(-1)!.destination.host, hops, socket, onRefused);
  } catch (error) {
    // All of it, whatever it was that failed: an inner stream would otherwise wait for its bastion.
    socket.destroy();
    await Promise.allSettled([hops.destroy(), closed]);
    throw error;
  } finally {
    signal.removeEventListener('abort', abandon);
  }
};

/** Verifies one host and authenticates there. */
const enter = async (
  sock: Duplex,
  { destination, pin }: PinnedHop,
  authentication: Authentication,
  hops: Hops,
): Promise<void> => {
  let refusal: HostKeyUnknown | HostKeyChanged | undefined;
  // Synchronous, and a boolean: ssh2 takes a promise for a yes. It is called again whenever the keys of the connection are changed.
  const verify = (presented: Buffer): boolean => {
    const key = hostKeyOf(presented);
    if (pin === null) refusal = new HostKeyUnknown(destination.pinName, key);
    else if (pin.blob !== key.blob) refusal = new HostKeyChanged(destination.pinName, pin, key);
    return refusal === undefined;
  };
  const { hop, ready } = openHop(sock, optionsFor(destination, authentication, verify, pin), hops.ended);
  hops.add(hop);
  try {
    await ready;
  } catch (cause) {
    throw refusal ?? authentication.refusal(cause) ?? cause;
  }
};

const optionsFor = (
  destination: Destination,
  authentication: Authentication,
  verify: (presented: Buffer) => boolean,
  pin: Pin | null,
): HopOptions => ({
  username: destination.user,
  hostVerifier: verify,
  authHandler: authentication.next,
  // In this order: it prepends only what is not there.
  ...(pin
    ? { algorithms: { serverHostKey: { remove: algorithmsOf(pin.type), prepend: algorithmsOf(pin.type), append: [] } } }
    : {}),
});

/** How a key of a type signs. Those of the pinned type come first, or a host with several would seem to have changed. */
const algorithmsOf = (type: string): ServerHostKeyAlgorithm[] =>
  (type === 'ssh-rsa' ? ['rsa-sha2-512', 'rsa-sha2-256'] : [type]) as ServerHostKeyAlgorithm[];

const channelTo = (bastion: Client, { host, port }: Destination): Promise<Duplex> =>
  new Promise((resolve, reject) => {
    bastion.once('close', () => reject(new Error('The host in between ended the connection')));
    bastion.forwardOut('127.0.0.1', 0, host, port, (error, channel) => {
      if (error)
        reject(new Error(`The host in between does not reach ${host}:${port}: ${error.message}`, { cause: error }));
      else resolve(channel);
    });
  });
