import { join } from 'node:path';
import {
  ensurePrivateDirectory,
  readPrivateFile,
  removePrivateFile,
  UnsafeFile,
  writePrivateFile,
} from '@rollcall/secret-file';
import { EXIT, Failure } from '../failure.js';

/** What a login leaves behind: one file, 0600, in a directory of 0700. */
export type StoredSession = {
  /** Origin of the operator API. */
  readonly address: string;
  /** Pins of the CA key to expect there; empty for a public certificate. */
  readonly pins: readonly string[];
  /** `rco_…` */
  readonly session: string;
  /** RFC 3339, UTC. */
  readonly expiresAt: string;
  readonly person: { readonly id: string; readonly name: string };
};

/** The session of whoever runs the CLI. Replaced whole, so a login that is killed leaves the old one. */
export class SessionFile {
  private readonly path: string;

  constructor(private readonly directory: string) {
    this.path = join(directory, 'session.json');
  }

  /** Makes sure that a session can be kept. @throws Failure where the directory is not ours alone. */
  prepare(): Promise<void> {
    return this.guard(() => ensurePrivateDirectory(this.directory));
  }

  /** Replaces the session. */
  async write(session: StoredSession): Promise<void> {
    await this.prepare();
    await this.guard(() => writePrivateFile(this.path, `${JSON.stringify(session, null, 2)}\n`));
  }

  /** The session; null when nobody is signed in here. @throws Failure where others can read it, or where it is damaged. */
  async read(): Promise<StoredSession | null> {
    const bytes = await this.guard(() => readPrivateFile(this.path));
    if (bytes === null) return null;
    const session = parse(bytes.toString('utf8'));
    if (!session)
      throw new Failure(`The session in ${this.path} is damaged: run \`rollcall login\`.`, EXIT.notSignedIn);
    return session;
  }

  /** Forgets the session. Without effect where there is none. */
  remove(): Promise<void> {
    return this.guard(() => removePrivateFile(this.path));
  }

  private async guard<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (cause) {
      if (cause instanceof UnsafeFile) throw new Failure(`${cause.message}; it is not used.`, EXIT.failed, { cause });
      const { code, message } = cause as NodeJS.ErrnoException;
      throw new Failure(`The session cannot be kept in ${this.directory} (${code ?? message}).`, EXIT.failed, {
        cause,
      });
    }
  }
}

const parse = (text: string): StoredSession | null => {
  try {
    const value = JSON.parse(text) as Partial<StoredSession> | null;
    const complete =
      typeof value?.address === 'string' &&
      URL.canParse(value.address) &&
      Array.isArray(value.pins) &&
      typeof value.session === 'string' &&
      typeof value.expiresAt === 'string' &&
      typeof value.person?.name === 'string';
    return complete ? (value as StoredSession) : null;
  } catch {
    return null;
  }
};
