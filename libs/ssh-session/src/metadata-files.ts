import { join } from 'node:path';
import { ensurePrivateDirectory, readPrivateFile, removePrivateFile, writePrivateFile } from '@rollcall/secret-file';
import type { NearEnd, SshTarget } from './ports.js';
import { SessionMetadata, type ResumeMetadata } from './session-metadata.js';

/**
 * Resume metadata in a directory of this computer, one file per session, both for their owner only (O30). A file that somebody else may read
 * or that makes no sense is refused and never replaced by a guess.
 */
export class MetadataFiles extends SessionMetadata {
  constructor(private readonly directory: string) {
    super();
  }

  override async remember(id: string, metadata: ResumeMetadata): Promise<void> {
    await ensurePrivateDirectory(this.directory);
    await writePrivateFile(this.#path(id), `${JSON.stringify(metadata)}\n`);
  }

  override async recall(id: string): Promise<ResumeMetadata | null> {
    const bytes = await readPrivateFile(this.#path(id));
    if (!bytes) return null;
    const metadata: unknown = JSON.parse(bytes.toString());
    if (!isMetadata(metadata)) throw new Error(`${this.#path(id)} holds something else than an SSH session`);
    return metadata;
  }

  override forget(id: string): Promise<void> {
    return removePrivateFile(this.#path(id));
  }

  /** @param id without a separator: the session host lets no other through */
  #path(id: string): string {
    return join(this.directory, `${id}.json`);
  }
}

type Loose<Type> = { readonly [Key in keyof Type]?: unknown };

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

const isMetadata = (value: unknown): value is ResumeMetadata => {
  if (!isObject(value)) return false;
  const { target, near, farSocketPath }: Loose<ResumeMetadata> = value;
  return isTarget(target) && isNearEnd(near) && typeof farSocketPath === 'string';
};

const isTarget = (value: unknown): value is SshTarget => {
  if (!isObject(value)) return false;
  const { host, user, port }: Loose<SshTarget> = value;
  return (
    typeof host === 'string' &&
    (user === undefined || typeof user === 'string') &&
    (port === undefined || (Number.isInteger(port) && Number(port) > 0 && Number(port) < 65_536))
  );
};

const isNearEnd = (value: unknown): value is NearEnd => {
  if (!isObject(value)) return false;
  const { kind, path }: { readonly kind?: unknown; readonly path?: unknown } = value;
  return kind === 'tcp' || (kind === 'unix' && typeof path === 'string');
};
