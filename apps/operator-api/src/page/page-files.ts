import { createHash } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';

/** A file of the web page, also in the forms that browsers take instead of it, the shortest first. */
export type PageFile = { readonly type: string; readonly forms: readonly PageForm[] };

/** The bytes that are sent. `encoding`: null for the file as it is, which comes last. */
export type PageForm = { readonly encoding: 'br' | 'gzip' | null; readonly content: Buffer; readonly etag: string };

/** The form that a request takes, by its `Accept-Encoding` (RFC 9110): the shortest of those that are named and not refused. */
export const formFor = ({ forms }: PageFile, accepted: string | undefined): PageForm => {
  const taken = new Set(
    (accepted ?? '')
      .toLowerCase()
      .split(',')
      .map((part) => part.trim())
      .filter((part) => !/;\s*q=0(\.0*)?$/.test(part))
      .map((part) => part.replace(/\s*;.*$/, '')),
  );
  const form = forms.find(({ encoding }) => encoding === null || taken.has(encoding));
  if (!form) throw new Error('a file of the page has no form as it is');
  return form;
};

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

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);

const form = (encoding: PageForm['encoding'], content: Buffer): PageForm => ({
  encoding,
  content,
  etag: `"${createHash('sha256').update(content).digest('base64url')}"`,
});

const read = async (path: string): Promise<PageFile | null> => {
  const type = TYPES[extname(path)];
  if (type === undefined) return null;
  try {
    const content = await readFile(path);
    const [br, gz] = await Promise.all([compressBrotli(content), compressGzip(content)]);
    return { type, forms: [form('br', br), form('gzip', gz), form(null, content)] };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
};
