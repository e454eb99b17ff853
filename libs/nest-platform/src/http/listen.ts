import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { AddressInfo, Server } from 'node:net';

/** Where an app listens. */
export type Place = {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** The name of the setting that chooses the port, for the error that says it is taken. */
  readonly portVariable: string;
};

/**
 * Lets an app listen, and closes it where it cannot.
 *
 * @returns the port
 * @throws Error naming the port and its setting when the port is taken or not permitted.
 */
export const listen = async (app: NestFastifyApplication, place: Place): Promise<number> => {
  try {
    await app.listen(place.port, place.host);
  } catch (error) {
    await app.close();
    throw asPortError(error as NodeJS.ErrnoException, place);
  }
  return ((app.getHttpServer() as Server).address() as AddressInfo).port;
};

/** The error that names a port that cannot be had, and the setting that chooses another; any other error as it is. */
export const asPortError = (error: NodeJS.ErrnoException, { host, port, portVariable }: Place): Error => {
  const reason = {
    EADDRINUSE: `Port ${port} on ${host} is taken by another program`,
    EACCES: `Port ${port} on ${host} may not be opened by this user`,
    EADDRNOTAVAIL: `${host} is not an address of this host (port ${port})`,
  }[error.code ?? ''];
  return reason ? new Error(`${reason}. Choose another with ${portVariable}.`, { cause: error }) : error;
};
