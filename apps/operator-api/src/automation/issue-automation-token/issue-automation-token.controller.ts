import { Body, Controller, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiCreatedResponse, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Caller, Does, STRICT_BODY } from '@rollcall/nest-platform';
import type { AutomationTokenAnswer } from '@rollcall/wire';
import type { SignedIn } from '../../access/person-authenticator.js';
import { IssueAutomationToken } from './issue-automation-token.command.js';
import { AutomationTokenAnswerDto, IssueAutomationTokenDto } from './issue-automation-token.dto.js';

@ApiTags('automation')
@Does('issue-automation-token')
@Controller('v1/automation-tokens')
export class IssueAutomationTokenController {
  constructor(private readonly commands: CommandBus) {}

  /** Registers the hash of a token with which a program acts for the caller, within its scopes and for 90 days at most. */
  @Post()
  @ApiCreatedResponse({ type: AutomationTokenAnswerDto })
  @ApiProblems('not-signed-in', 'session-not-fresh', 'invalid-body', 'too-many-automation-tokens', 'unavailable')
  async issueAutomationToken(
    @Caller() { id }: SignedIn,
    @Body(STRICT_BODY) { commandId, tokenHash, name, scopes, expiresIn }: IssueAutomationTokenDto,
  ): Promise<AutomationTokenAnswer> {
    const command = new IssueAutomationToken(id, commandId, tokenHash, name, scopes, expiresIn);
    return { token: await this.commands.execute(command) };
  }
}
