import type { Context } from '../context.js';
import { Output } from '../output/output.js';
import { Plane } from '../plane/plane.js';
import type { Transport, TransportRequest } from '../plane/transport.js';
import { SessionFile } from '../session/session-file.js';
import { captured } from './captured.js';

/** Runs a command against a plane that answers everything with one body. */
export const against = async (body: unknown, command: (context: Context) => Promise<void>, json = false) => {
  const asked: TransportRequest[] = [];
  const transport: Transport = (request) => {
    asked.push(request);
    return Promise.resolve({ status: 200, body });
  };
  const surroundings = captured();
  const context: Context = {
    surroundings,
    output: new Output(surroundings.stdout, surroundings.stderr, {}, json),
    sessions: new SessionFile('/nowhere'),
    plane: () => Promise.resolve(new Plane('https://plane', transport, 'rco_')),
    planeAt: () => new Plane('https://plane', transport, null),
  };
  const failure = await command(context).then(
    () => null,
    (error: unknown) => error,
  );
  return { ...surroundings.printed, asked, failure };
};
