import type { Enrolment } from '../check/enrolment.js';
import { HttpsPlane } from '../plane/https-plane.js';
import { loadKeys } from './credential-file.js';
import { readHomePlane } from './home-plane.js';
import type { StateDirectory } from './state-directory.js';

/** What this installation checks in with, or why it cannot. */
export type LoadedEnrolment =
  | { readonly state: 'enrolled'; readonly enrolment: Enrolment; readonly address: string }
  | { readonly state: 'not-enrolled' | 'credential-unreadable'; readonly sentence: string };

/**
 * Reads the state directory. Never throws: a daemon that cannot read its credential stays up and says so (C04).
 *
 * @param chain what `takeChain` has found at a start (Default: null, which costs a signal of a copy and no liveness)
 */
export const loadEnrolment = async (
  directory: StateDirectory,
  chain: string | null = null,
): Promise<LoadedEnrolment> => {
  const { keys, problem } = await loadKeys(directory).catch((error: unknown) => ({
    keys: [],
    problem: `credential unreadable: ${(error as Error).message}`,
  }));
  if (problem !== null) return { state: 'credential-unreadable', sentence: problem };
  const [first] = keys;
  if (!first)
    return { state: 'not-enrolled', sentence: 'Not enrolled yet: give an enrolment token to "rollcall-agent enrol".' };
  const home = await readHomePlane(directory.home).catch(() => null);
  // A credential is for one plane only. Another address means that an enrolment was cut off between the two files.
  if (!home || home.address !== first.address)
    return {
      state: 'credential-unreadable',
      sentence: `The plane of this credential is not known any more (${directory.home}). Repeat "rollcall-agent enrol" with the same token.`,
    };
  return {
    state: 'enrolled',
    address: home.address,
    enrolment: {
      plane: new HttpsPlane(home.address, home.pins),
      keys,
      chain,
      interval: home.interval,
      machine: home.machine,
    },
  };
};
