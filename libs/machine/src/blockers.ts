/** What may keep a machine from taking work, as the plane understands it. The machine sends the code and nothing else (O21). */
export type Blocker = {
  readonly code: string;
  /** What is the matter, to be read after "the machine is present, but". */
  readonly sentence: string;
  /** Who can fix it, and how. */
  readonly fix: string;
  /** What on the machine the finding rests on. */
  readonly dependsOn: string;
  /** Whether the machine gets no work while it lasts. */
  readonly blocksWork: boolean;
  /** Seconds from the cause to the plane's knowing, at most, on a machine that is present. */
  readonly visibleWithin: number;
};

/** The catalogue, by code. */
const CATALOGUE: readonly Blocker[] = [
  {
    code: 'stops-at-logout',
    sentence: 'the agent stops when its user logs out',
    fix: 'an administrator of the machine: loginctl enable-linger for the account',
    dependsOn: "the service manager's linger setting of the account",
    blocksWork: false,
    visibleWithin: 90,
  },
  {
    code: 'disk-full',
    sentence: 'the disk is full',
    fix: "whoever looks after the machine: free space on the file system of the agent's state directory",
    dependsOn: "the free space of the agent's file system",
    blocksWork: true,
    visibleWithin: 90,
  },
  {
    code: 'clock-wrong',
    sentence: 'the clock is wrong',
    fix: 'an administrator of the machine: switch time synchronisation on',
    dependsOn: "the difference between the machine's clock and the plane's, over several checks",
    blocksWork: true,
    visibleWithin: 120,
  },
  {
    code: 'credential-unreadable',
    sentence: 'the credential file cannot be read',
    fix: 'the owner of the account: restore the mode and the owner of the file',
    dependsOn: 'the credential file, while the running agent still has its content',
    blocksWork: true,
    visibleWithin: 90,
  },
  {
    code: 'duplicate-installation',
    sentence: 'a copy of this installation is checking in as well',
    fix: 'the owner of the node: rollcall-agent rotate on the right one; or delete the machine and enrol each on its own',
    dependsOn: 'the chain of check answers',
    blocksWork: true,
    visibleWithin: 120,
  },
  {
    code: 'update-pending',
    sentence: 'an update of the agent waits to be installed',
    fix: 'nobody: it is installed when no work runs',
    dependsOn: 'the version that is installed and the one that runs',
    blocksWork: false,
    visibleWithin: 90,
  },
  {
    code: 'adoption-failed',
    sentence: 'something on the machine could not be adopted',
    fix: 'the owner of the node: read the briefing, resolve it, then rollcall-agent adopt --retry',
    dependsOn: 'the worst line of the briefing',
    blocksWork: true,
    visibleWithin: 30,
  },
  {
    code: 'operator-paused',
    sentence: 'a person has paused it',
    fix: 'the person who paused it, or the owner of the node',
    dependsOn: "a person's word",
    blocksWork: true,
    visibleWithin: 30,
  },
];

const BY_CODE: ReadonlyMap<string, Blocker> = new Map(CATALOGUE.map((blocker) => [blocker.code, blocker]));

/** All codes that this plane knows. */
export const BLOCKER_CODES: readonly string[] = CATALOGUE.map(({ code }) => code);

/** What a code means. An unknown one comes from a newer agent: it is shown as such, and blocks, because its reason may be a good one. */
export const blockerOf = (code: string): Blocker =>
  BY_CODE.get(code) ?? {
    code,
    sentence: 'for a reason that this plane does not know',
    fix: 'whoever runs the plane: the agent is newer than the plane; update the plane',
    dependsOn: 'unknown',
    blocksWork: true,
    visibleWithin: 30,
  };
