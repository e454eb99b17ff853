import { Module } from '@nestjs/common';
import { MachineModule } from '../machine/machine.module.js';
import { IssueTokenController } from './issue-token/issue-token.controller.js';
import { IssueEnrolmentTokenHandler } from './issue-token/issue-token.handler.js';
import { ListTokensController } from './list-tokens/list-tokens.controller.js';
import { ShownTokens } from './list-tokens/shown-tokens.js';
import { PreadmitMachineController } from './preadmit-machine/preadmit-machine.controller.js';
import { WithdrawTokenController } from './withdraw-token/withdraw-token.controller.js';
import { WithdrawTokenHandler } from './withdraw-token/withdraw-token.handler.js';

/** People let machines join. */
@Module({
  imports: [MachineModule],
  controllers: [IssueTokenController, ListTokensController, WithdrawTokenController, PreadmitMachineController],
  providers: [IssueEnrolmentTokenHandler, WithdrawTokenHandler, ShownTokens],
})
export class EnrolmentModule {}
