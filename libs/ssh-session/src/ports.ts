/** Whom to reach, as the person said it. What it stands for is resolved by whoever dials: configuration, user, port, jump host. */
export type SshTarget = {
  /** A name, an address, or an alias of the person's ssh configuration. */
  readonly host: string;
  readonly user?: string;
  readonly port?: number;
};

/** Where a forward begins on this computer: a UNIX socket, or a port of loopback that the kernel chooses. */
export type NearEnd = { readonly kind: 'unix'; readonly path: string } | { readonly kind: 'tcp' };

/** Where a near end listens; an address of loopback and nothing else. */
export type NearAddress =
  | { readonly kind: 'unix'; readonly path: string }
  | { readonly kind: 'tcp'; readonly host: '127.0.0.1'; readonly port: number };

/** How a remote command ended. One of `code` and `signal` is null. */
export type CommandResult = {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
};

/**
 * One SSH connection with all that carries it: the client, its socket and, where there is one, the bastion's client and socket. It has
 * one `close`. A link knows no time and never probes by itself; whoever owns it does.
 */
export abstract class Link {
  /** The host that was reached, as a person knows it. For the log of this computer only (O30). */
  abstract readonly remoteHost: string;

  /** Whether a hop has ended, by `end`, `close` or `error`. Set in the turn in which it ends, before any listener hears of it. */
  abstract readonly ended: boolean;

  /** How many bytes the outermost socket has read: it grows while answers that have already arrived are still being taken in. */
  abstract readonly bytesRead: number;

  /**
   * Asks the far side for an answer. Resolves in the turn in which one arrives, a yes or a no; rejects when the link ended instead, and
   * after that at once. It never throws, and waits for ever on a silent path. One at a time: answers carry no name.
   */
  abstract probe(): Promise<void>;

  /**
   * Runs a command and drains its output. It never throws; it rejects when the link ended or refused, and waits for ever on a silent path.
   */
  abstract exec(command: string): Promise<CommandResult>;

  /** Listens at `near` and carries each connection to a UNIX socket of the far side. */
  abstract forward(near: NearEnd, farSocketPath: string): Promise<NearForward>;

  /**
   * Calls the listener in the turn in which the first hop ends, whoever ended it; at once when that was before. At most once.
   *
   * @returns what takes the listener away again
   */
  abstract onEnd(listener: () => void): () => void;

  /**
   * Destroys the sockets of every hop, without a word to the far side, and resolves when all of them have ended. Idempotent. What waits in
   * `probe` and `exec` rejects with it. It rejects where the end cannot be reached; whoever calls bounds the wait as well.
   */
  abstract close(): Promise<void>;
}

/** The near end of a forward. When its link ends, it cuts what it has accepted in that very turn, by a reset where there is such a thing. */
export abstract class NearForward {
  abstract readonly address: NearAddress;

  /**
   * Refuses from the call on, cuts in the same turn what was accepted, and resolves when all of that has ended. Idempotent.
   */
  abstract close(): Promise<void>;
}

/** How a dial is called off. */
export type DialOptions = { readonly signal: AbortSignal };

/**
 * Connects, verifies the host's key and authenticates. One that fails or is called off has left nothing behind when it rejects.
 */
export type Dial = (target: SshTarget, options: DialOptions) => Promise<Link>;
