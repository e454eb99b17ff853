import { Body, Controller, Post, Req, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiCreatedResponse, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Does, STRICT_BODY } from '@rollcall/nest-platform';
import type { MeAnswer } from '@rollcall/wire';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { sessionCookies, sessionReplacedBy } from '../../access/browser-session.js';
import { MeDto } from '../show-me/show-me.dto.js';
import { SignIn } from '../sign-in/sign-in.command.js';
import { SignInDto } from '../sign-in/sign-in.dto.js';

@ApiTags('sessions')
@Controller('v1/sessions/browser')
export class SignInBrowserController {
  constructor(private readonly commands: CommandBus) {}

  /** Turns a one-time link into a session of this browser, in a cookie that no script reads. The one that it had before ends. */
  @Post()
  @Does('sign-in-browser')
  @ApiCreatedResponse({ type: MeDto })
  @ApiProblems('link-refused', 'slow-down', 'invalid-body', 'unavailable')
  async signIn(
    @Body(STRICT_BODY) { link }: SignInDto,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<MeAnswer> {
    const {
      session: secret,
      expiresAt,
      person,
    } = await this.commands.execute(new SignIn(link, { replaces: sessionReplacedBy(request) }));
    void reply.header('set-cookie', sessionCookies({ secret, expiresAt }));
    return { person, expiresAt };
  }
}
