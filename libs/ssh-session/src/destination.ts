/** A host as the person's ssh configuration describes it, with everything resolved that a dial needs. */
export type Destination = {
  /** The name or alias that was asked for. */
  readonly name: string;
  /** Where to connect to. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  /** Under which name the host's key is pinned: `host`, or `[host]:port` where that is not 22, or the HostKeyAlias. */
  readonly pinName: string;
  /** Where to connect from; null: wherever the system likes. */
  readonly localAddress: string | null;
  /** 4 or 6 where the person insists on one; 0: either. */
  readonly family: 0 | 4 | 6;
  /** The socket of the ssh-agent; null: none. */
  readonly agent: string | null;
  /** Files of private keys, in the order in which they are tried. Those that the person did not name need not exist. */
  readonly identities: readonly string[];
  /** Those of `identities` that were named for this dial: they come before keys of the agent that nobody has named. */
  readonly named: readonly string[];
  /** Whether the agent may be asked for the keys of `identities` only. */
  readonly isIdentitiesOnly: boolean;
  /** The host in between. */
  readonly bastion: Destination | null;
};

/** A setting of the person's ssh configuration, or what was asked for, that cannot be honoured. It is never passed over. */
export class DestinationRefused extends Error {
  override readonly name = 'DestinationRefused';

  /** @param setting its name as ssh_config(5) spells it */
  constructor(
    readonly setting: string,
    sentence: string,
    options?: ErrorOptions,
  ) {
    super(sentence, options);
  }
}
