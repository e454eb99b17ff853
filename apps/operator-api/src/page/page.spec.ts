import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { Module } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { injectableApp } from '@rollcall/nest-platform/testing';
import { PageFiles } from './page-files.js';
import { PageModule } from './page.module.js';

const SCRIPT = 'console.log("present");\n'.repeat(100);

let directory: string;
let app: NestFastifyApplication;
let bare: NestFastifyApplication;

const appWith = (files: PageFiles): Promise<NestFastifyApplication> => {
  @Module({})
  class FilesModule {}
  const provided = {
    module: FilesModule,
    global: true,
    providers: [{ provide: PageFiles, useValue: files }],
    exports: [PageFiles],
  };
  return injectableApp({ module: class PageApp {}, imports: [provided, PageModule] });
};

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rollcall-page-'));
  await mkdir(join(directory, 'assets'));
  await writeFile(join(directory, 'index.html'), '<!doctype html>');
  await writeFile(join(directory, 'assets/main.js'), SCRIPT);
  await writeFile(join(directory, 'assets/notes.txt'), 'no part of the page');
  app = await appWith(await PageFiles.in(directory));
  bare = await appWith(await PageFiles.in(join(directory, 'nothing')));
});
afterAll(() => Promise.all([app.close(), bare.close(), rm(directory, { recursive: true })]));

const load = (url: string, headers: Record<string, string> = {}) => app.inject({ method: 'GET', url, headers });

it.each<[string, string | undefined, (bytes: Buffer) => Buffer]>([
  ['gzip, deflate, br', 'br', brotliDecompressSync],
  ['gzip', 'gzip', gunzipSync],
  ['br;q=0, gzip;q=0.5', 'gzip', gunzipSync],
  ['identity', undefined, (bytes) => bytes],
  ['', undefined, (bytes) => bytes],
])('sends a file in the shortest form that a browser takes: of "%s", %s', async (accepted, encoding, read) => {
  const answer = await load('/assets/main.js', accepted === '' ? {} : { 'accept-encoding': accepted });
  expect(answer.headers['content-encoding']).toBe(encoding);
  expect(answer.headers['vary']).toBe('accept-encoding');
  expect(read(answer.rawPayload).toString()).toBe(SCRIPT);
  if (encoding !== undefined) expect(answer.rawPayload.length).toBeLessThan(SCRIPT.length / 10);
});

it('sends nothing again that a browser has, in the form in which it has it', async () => {
  const headers = { 'accept-encoding': 'br' };
  const { etag } = (await load('/assets/main.js', headers)).headers;
  const again = await load('/assets/main.js', { ...headers, 'if-none-match': String(etag) });
  expect([again.statusCode, again.payload]).toEqual([304, '']);
  expect((await load('/assets/main.js', { 'if-none-match': String(etag) })).statusCode).toBe(200);
});

it('has the files that the page was built of, by exact name, and nothing else', async () => {
  for (const path of ['/assets/notes.txt', '/assets/..%2Findex.html', '/assets/main.jsx'])
    expect((await load(path)).statusCode).toBe(404);
});

it('says in words where a plane was built without its page', async () => {
  const answer = await bare.inject({ method: 'GET', url: '/machines/1' });
  expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8']);
  expect(answer.payload).toContain('built without its web page');
  expect((await bare.inject({ method: 'GET', url: '/assets/main.js' })).statusCode).toBe(404);
});
