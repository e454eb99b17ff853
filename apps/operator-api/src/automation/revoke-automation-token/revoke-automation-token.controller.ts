import { Body, Controller, Delete, HttpCode, Param } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiNoContentResponse, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Caller, Does, STRICT_BODY } from '@rollcall/nest-platform';
import type { SignedIn } from '../../access/person-authenticator.js';
import { RevokeAutomationToken } from './revoke-automation-token.command.js';
import { RevokeAutomationTokenDto } from './revoke-automation-token.dto.js';

@ApiTags('automation')
@Does('revoke-automation-token')
@Controller('v1/automation-tokens/:token')
export class RevokeAutomationTokenController {
  constructor(private readonly commands: CommandBus) {}

  /** Ends a token; it is unknown from the next request on, on every instance. */
  @Delete()
  @HttpCode(204)
  @ApiNoContentResponse()
  @ApiProblems('not-signed-in', 'automation-token-not-found', 'invalid-body', 'unavailable')
  revokeAutomationToken(
    @Caller() { id }: SignedIn,
    @Param('token') token: string,
    @Body(STRICT_BODY) { commandId }: RevokeAutomationTokenDto,
  ): Promise<void> {
    return this.commands.execute(new RevokeAutomationToken(id, commandId, token.toLowerCase()));
  }
}
