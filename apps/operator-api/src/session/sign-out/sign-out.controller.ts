import { Controller, Delete, HttpCode } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiNoContentResponse, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Caller, Does } from '@rollcall/nest-platform';
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
  signOut(@Caller() { id, sessionId }: SignedIn): Promise<void> {
    return this.commands.execute(new SignOut(id, sessionId));
  }
}
