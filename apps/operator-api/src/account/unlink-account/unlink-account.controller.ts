import { Controller, Delete, HttpCode, Param } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiNoContentResponse, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Caller, Does } from '@rollcall/nest-platform';
import type { SignedIn } from '../../access/person-authenticator.js';
import { UnlinkAccountOf } from './unlink-account.command.js';

@ApiTags('sessions')
@Does('unlink-account')
@Controller('v1/accounts/:account')
export class UnlinkAccountController {
  constructor(private readonly commands: CommandBus) {}

  /** Ends the link of an account to the caller. */
  @Delete()
  @HttpCode(204)
  @ApiNoContentResponse()
  @ApiProblems('not-signed-in', 'account-not-found', 'unavailable')
  unlinkAccount(@Caller() { id }: SignedIn, @Param('account') account: string): Promise<void> {
    return this.commands.execute(new UnlinkAccountOf(id, account));
  }
}
