import { SystemClock } from '@rollcall/lifetimes';
import { EXIT, Told } from '../exit-code.js';
import { readCredential } from '../installation/credential-file.js';
import { readHomePlane } from '../installation/home-plane.js';
import { openStateDirectory, type StateDirectory } from '../installation/state-directory.js';
import { printable } from '../log.js';
import { HttpsPlane } from '../plane/https-plane.js';
import { rotate as rotateFiles, toldRotation, type ToldRotation } from '../rotation/rotate.js';
import { LocalDaemon } from './local-daemon.js';

/**
 * `rollcall-agent rotate`: takes a new credential, through the running agent, which uses it at once. Where none runs, the new one is kept and
 * registered, and takes over at the agent's next start: a check by anybody else would say that the agent runs.
 */
export const rotate = async (directory: StateDirectory): Promise<number> => {
  await openStateDirectory(directory);
  const byDaemon = await new LocalDaemon(directory).rotate();
  const end = byDaemon ?? (await alone(directory));
  if (end.kind === 'not-stored')
    throw new Told(EXIT.fault, printable(`The next credential cannot be kept: ${end.why}. The one in use stays.`));
  if (end.kind === 'lost')
    throw new Told(EXIT.unreachable, printable(`Not rotated: ${end.why}. The credential in use stays; try again.`));
  if (end.kind === 'refused')
    throw new Told(EXIT.refused, `The plane refused: ${end.code}. The credential in use stays.`);
  process.stdout.write(sentence(end, byDaemon !== null));
  return EXIT.ok;
};

const sentence = (end: ToldRotation & { kind: 'registered' | 'overtaken' }, isRunning: boolean): string => {
  if (end.kind === 'overtaken') return 'Another process has rotated the credential just now.\n';
  const taken = isRunning ? 'The agent checks in with it now.' : 'The agent takes it at its next start.';
  return `Registered the next credential, generation ${end.generation}. ${taken}\n`;
};

const alone = async (directory: StateDirectory): Promise<ToldRotation> => {
  const [reading, home] = await Promise.all([readCredential(directory.credential), readHomePlane(directory.home)]);
  if (reading.state !== 'whole' || home?.address !== reading.key.address)
    throw new Told(EXIT.usage, 'There is no credential here that could be rotated; "rollcall-agent status" says more.');
  const plane = new HttpsPlane(home.address, home.pins);
  try {
    const { signal } = new AbortController();
    return toldRotation(await rotateFiles({ directory, plane, inUse: reading.key, clock: new SystemClock(), signal }));
  } finally {
    plane.abandonConnections();
  }
};
