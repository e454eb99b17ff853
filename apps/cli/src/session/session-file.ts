import { join } from 'node:path';
import {
  ensurePrivateDirectory,
  readPrivateFile,
  removePrivateFile,
  UnsafeFile,
  writePrivateFile,
} from '@rollcall/secret-file';
import type { PlaneAddress } from '@rollcall/wire';
import { EXIT, Failure } from '../failure.js';

/** Whose session it is, and where. */
export type StoredSession = PlaneAddress & {
  /** `rco_…` */
  readonly session: string;
  /** RFC 3339, UTC. */
  readonly expiresAt: string;
  readonly person: { readonly id: string; readonly name: string };
};

/**
 * What a login leaves behind, 0600 in a directory of 0700: the session, and where it was, which outlives it. Files are replaced whole, so a login
 * that is killed leaves the old one.
 */
export class SessionFile {
  private readonly path: string;
  private readonly planePath: string;

  constructor(private readonly directory: string) {
    this.path = join(directory, 'session.json');
    this.planePath = join(directory, 'plane.json');
  }

  /** The path of something else that is kept beside the session. */
  beside(name: string): string {
    return join(this.directory, name);
  }

  /** Makes sure that a session can be kept. @throws Failure where the directory is not ours alone. */
  prepare(): Promise<void> {
    return this.guard(() => ensurePrivateDirectory(this.directory));
  }

  /** Replaces the session. */
  async write(session: StoredSession): Promise<void> {
    await this.prepare();
    const { address, pins } = session;
    await this.guard(() => writePrivateFile(this.planePath, text({ address, pins } satisfies PlaneAddress)));
    await this.guard(() => writePrivateFile(this.path, text(session)));
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

  /** Where somebody signed in last, also if nobody is now; null where nobody has, or where that cannot be read. */
  async lastPlane(): Promise<PlaneAddress | null> {
    const [session, plane] = await Promise.all([
      this.guard(() => readPrivateFile(this.path)),
      this.guard(() => readPrivateFile(this.planePath)),
    ]);
    const [newest] = [plane, session].flatMap((bytes) => (bytes === null ? [] : (parsePlane(bytes) ?? [])));
    return newest ?? null;
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

const text = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;

const parsePlane = (bytes: Buffer): PlaneAddress | null => {
  try {
    const value = JSON.parse(bytes.toString('utf8')) as Partial<PlaneAddress> | null;
    return isPlane(value) ? { address: value.address, pins: value.pins } : null;
  } catch {
    return null;
  }
};

const isPlane = <Value extends Partial<PlaneAddress>>(value: Value | null): value is Value & PlaneAddress =>
  typeof value?.address === 'string' && URL.canParse(value.address) && Array.isArray(value.pins);

const parse = (text: string): StoredSession | null => {
  try {
    const value = JSON.parse(text) as Partial<StoredSession> | null;
    const complete =
      isPlane(value) &&
      typeof value.session === 'string' &&
      typeof value.expiresAt === 'string' &&
      typeof value.person?.name === 'string';
    return complete ? (value as StoredSession) : null;
  } catch {
    return null;
  }
};
