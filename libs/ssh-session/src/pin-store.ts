import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  createPrivateFile,
  ensurePrivateDirectory,
  readPrivateFile,
  removePrivateFile,
  writePrivateFile,
} from '@rollcall/secret-file';
import { fingerprintOf, HostKeyChanged, PinStoreUnusable, type HostKey } from './host-key.js';

/** A key that a person has confirmed for a host. */
export type Pin = HostKey & {
  /** When, by the clock of this computer; RFC 3339, UTC. */
  readonly pinnedAt: string;
};

/** A confirmation, kept for good. */
export type PinEvent = {
  readonly at: string;
  readonly host: string;
  readonly fingerprint: string;
  /** The fingerprint that was pinned until then; null at first contact. */
  readonly replaced: string | null;
};

type Contents = {
  readonly version: 1;
  readonly pins: Readonly<Record<string, Pin>>;
  readonly events: readonly PinEvent[];
};

const EMPTY: Contents = { version: 1, pins: {}, events: [] };
const SIZE_LIMIT = 4_194_304;
/** How long another process is waited for that writes the file, in milliseconds; it needs a few. */
const WRITER_LIMIT_MS = 2_000;
const LOOK_AGAIN_MS = 20;

/**
 * The host keys that a person has confirmed, in one owner-only file of this computer (O30). A file that is missing means first contact
 * with everybody; one that cannot be read or is damaged means nothing, so it is refused and never repaired.
 */
export class PinStore {
  constructor(private readonly path: string) {}

  /** @throws PinStoreUnusable */
  async pinOf(host: string): Promise<Pin | null> {
    const { pins } = await this.#read();
    return Object.hasOwn(pins, host) ? (pins[host] ?? null) : null;
  }

  /** Everything that was ever confirmed, the oldest first. @throws PinStoreUnusable */
  async events(): Promise<readonly PinEvent[]> {
    return (await this.#read()).events;
  }

  /**
   * Pins a key that a person has confirmed in place of another one, or of none.
   *
   * @param replaced the key that was pinned when the person was asked
   * @throws HostKeyChanged where a third key was pinned meanwhile: nobody was asked about that one. PinStoreUnusable
   */
  async pin(host: string, key: HostKey, replaced: HostKey | null, now: Date): Promise<void> {
    try {
      await ensurePrivateDirectory(dirname(this.path));
      await this.#alone(() => this.#add(host, key, replaced, now));
    } catch (cause) {
      if (cause instanceof PinStoreUnusable || cause instanceof HostKeyChanged) throw cause;
      throw new PinStoreUnusable(`The file of pinned host keys cannot be written: ${(cause as Error).message}`, {
        cause,
      });
    }
  }

  async #add(host: string, { type, blob }: HostKey, replaced: HostKey | null, now: Date): Promise<void> {
    const { pins, events } = await this.#read();
    const before = Object.hasOwn(pins, host) ? pins[host] : undefined;
    if (before && before.blob !== blob && before.blob !== replaced?.blob)
      throw new HostKeyChanged(host, before, { type, blob });
    const at = now.toISOString();
    const contents: Contents = {
      version: 1,
      pins: { ...pins, [host]: { type, blob, pinnedAt: at } },
      events: [
        ...events,
        { at, host, fingerprint: fingerprintOf({ type, blob }), replaced: before ? fingerprintOf(before) : null },
      ],
    };
    await writePrivateFile(this.path, `${JSON.stringify(contents, null, 2)}\n`);
  }

  /**
   * One writer at a time, among all processes of this computer: each writes the whole file, and would undo what another one has
   * confirmed meanwhile. A lock that a killed one has left is for a person to remove.
   */
  async #alone(work: () => Promise<void>): Promise<void> {
    const lock = `${this.path}.lock`;
    const since = performance.now();
    while (!(await createPrivateFile(lock, `${process.pid}\n`))) {
      if (performance.now() - since > WRITER_LIMIT_MS)
        throw new PinStoreUnusable(
          `The file of pinned host keys has been held by another process for ${WRITER_LIMIT_MS / 1_000} s; if there is none, remove ${lock}`,
        );
      await delay(LOOK_AGAIN_MS);
    }
    try {
      await work();
    } finally {
      await removePrivateFile(lock);
    }
  }

  async #read(): Promise<Contents> {
    let bytes: Buffer | null;
    try {
      bytes = await readPrivateFile(this.path, SIZE_LIMIT);
    } catch (cause) {
      throw new PinStoreUnusable(`The file of pinned host keys cannot be used: ${(cause as Error).message}`, { cause });
    }
    if (bytes === null) return EMPTY;
    const contents = parse(bytes.toString('utf8'));
    if (contents === null) throw new PinStoreUnusable(`The file of pinned host keys is damaged: ${this.path}`);
    return contents;
  }
}

const parse = (text: string): Contents | null => {
  try {
    const value = JSON.parse(text) as Partial<Contents> | null;
    const isWhole =
      value?.version === 1 &&
      typeof value.pins === 'object' &&
      value.pins !== null &&
      Object.values(value.pins).every(isPin) &&
      Array.isArray(value.events);
    return isWhole ? (value as Contents) : null;
  } catch {
    return null;
  }
};

const isPin = (value: Partial<Pin> | null): boolean =>
  typeof value?.type === 'string' &&
  typeof value.blob === 'string' &&
  typeof value.pinnedAt === 'string' &&
  /^[A-Za-z0-9+/]+={0,2}$/.test(value.blob);
