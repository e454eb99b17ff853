import { Module } from '@nestjs/common';
import { IssueAutomationTokenController } from './issue-automation-token/issue-automation-token.controller.js';
import { IssueAutomationTokenHandler } from './issue-automation-token/issue-automation-token.handler.js';
import { ListAutomationTokensController } from './list-automation-tokens/list-automation-tokens.controller.js';
import { RevokeAutomationTokenController } from './revoke-automation-token/revoke-automation-token.controller.js';
import { RevokeAutomationTokenHandler } from './revoke-automation-token/revoke-automation-token.handler.js';

/** People let programs act for them, within scopes that admit and delete nothing (O3). */
@Module({
  controllers: [IssueAutomationTokenController, ListAutomationTokensController, RevokeAutomationTokenController],
  providers: [IssueAutomationTokenHandler, RevokeAutomationTokenHandler],
})
export class AutomationModule {}
