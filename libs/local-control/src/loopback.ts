import type { AddressInfo } from 'node:net';

/** A listener that others could reach. */
export class ReachableListener extends Error {
  override readonly name = 'ReachableListener';
}

const LOOPBACK = /^(127(\.\d{1,3}){3}|::1|::ffff:127(\.\d{1,3}){3})$/i;

/**
 * Refuses to go on with a listener that is neither a UNIX socket nor on loopback (O1). Takes what `server.address()` says, so what is
 * judged is what the kernel did and not what somebody meant to configure.
 *
 * @throws ReachableListener
 */
export const refuseNonLoopback = (address: string | AddressInfo | null): void => {
  if (address === null) throw new ReachableListener('The listener has no address: it is not listening');
  if (typeof address === 'string' || LOOPBACK.test(address.address)) return;
  throw new ReachableListener(
    `Refusing to listen on ${address.address} port ${address.port}: this machine must not be reachable from outside. Only a UNIX socket or a loopback address is allowed.`,
  );
};
