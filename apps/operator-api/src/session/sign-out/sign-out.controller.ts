import { Controller, Delete, HttpCode, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiNoContentResponse, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Caller, Does } from '@rollcall/nest-platform';
import type { FastifyReply } from 'fastify';
import { sessionCookies } from '../../access/browser-session.js';
import type { SignedIn } from '../../access/person-authenticator.js';
import { SignOut } from './sign-out.command.js';

@ApiTags('sessions')
@Does('sign-out')
@Controller('v1/sessions/current')
export class SignOutController {
  constructor(private readonly commands: CommandBus) {}

  /** Ends the session that asks. */
  @Delete()
  @HttpCode(204)
  @ApiNoContentResponse()
  @ApiProblems('not-signed-in', 'unavailable')
  async signOut(@Caller() { id, sessionId }: SignedIn, @Res({ passthrough: true }) reply: FastifyReply): Promise<void> {
    await this.commands.execute(new SignOut(id, sessionId));
    void reply.header('set-cookie', sessionCookies(null));
  }
}
