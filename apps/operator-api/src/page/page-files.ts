import { createHash } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { extname, join } from 'node:path';

/** A file of the web page. */
export type PageFile = { readonly type: string; readonly content: Buffer; readonly etag: string };

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** The web page as it was built: a document, and what it loads, by name. Read once: nothing else can ever be asked for. */
export class PageFiles {
  private constructor(
    readonly document: PageFile | null,
    private readonly assets: ReadonlyMap<string, PageFile>,
  ) {}

  /** What a directory holds; of one that is not there nothing. */
  static async in(directory: string): Promise<PageFiles> {
    const document = await read(join(directory, 'index.html'));
    if (document === null) return PageFiles.none();
    const names = await readdir(join(directory, 'assets'));
    const assets = await Promise.all(
      names.map(async (name) => [name, await read(join(directory, 'assets', name))] as const),
    );
    return new PageFiles(document, new Map(assets.flatMap(([name, file]) => (file === null ? [] : [[name, file]]))));
  }

  static none(): PageFiles {
    return new PageFiles(null, new Map());
  }

  asset(name: string): PageFile | null {
    return this.assets.get(name) ?? null;
  }
}

const read = async (path: string): Promise<PageFile | null> => {
  const type = TYPES[extname(path)];
  if (type === undefined) return null;
  try {
    const content = await readFile(path);
    return { type, content, etag: `"${createHash('sha256').update(content).digest('base64url')}"` };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
};
