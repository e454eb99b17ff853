import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Refusal } from '@rollcall/decider';
import { Does } from '@rollcall/nest-platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { formFor, PageFiles, type PageFile } from './page-files.js';
import { PAGE_HEADERS } from './page-headers.js';

/** The web page. The path says what it shows, and whoever wants to know more than that has to sign in. */
@ApiExcludeController()
@Does('show-page')
@Controller()
export class PageController {
  constructor(private readonly files: PageFiles) {}

  /** What stands behind `#` in a sign-in link has not come here. */
  @Get(['', 'sign-in', 'tokens', 'codes', 'device', 'account', 'machines/:id'])
  show(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    const { document } = this.files;
    if (document === null) {
      void reply
        .type('text/plain; charset=utf-8')
        .send('This plane was built without its web page. Run `rollcall login` and paste the whole link there.\n');
      return;
    }
    send(document, { request, reply, caching: 'no-cache' });
  }

  /** Named by its content, so it never changes. */
  @Get('assets/:name')
  load(@Param('name') name: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    const file = this.files.asset(name);
    if (file === null) throw new Refusal('not-found');
    send(file, { request, reply, caching: 'public, max-age=31536000, immutable' });
  }
}

const send = (
  file: PageFile,
  {
    request,
    reply,
    caching,
  }: { readonly request: FastifyRequest; readonly reply: FastifyReply; readonly caching: string },
): void => {
  // Nothing in it is anybody's secret, so its length may tell what it is.
  const { encoding, content, etag } = formFor(file, request.headers['accept-encoding']);
  void reply.headers({ ...PAGE_HEADERS, 'cache-control': caching, etag, vary: 'accept-encoding' });
  if (encoding !== null) void reply.header('content-encoding', encoding);
  if (request.headers['if-none-match'] === etag) void reply.code(304).send();
  else void reply.type(file.type).send(content);
};
