import { Module } from '@nestjs/common';
import { MachineModule } from '../machine/machine.module.js';
import { IssueTokenController } from './issue-token/issue-token.controller.js';
import { IssueEnrolmentTokenHandler } from './issue-token/issue-token.handler.js';
import { PreadmitMachineController } from './preadmit-machine/preadmit-machine.controller.js';

/** People let machines join. */
@Module({
  imports: [MachineModule],
  controllers: [IssueTokenController, PreadmitMachineController],
  providers: [IssueEnrolmentTokenHandler],
})
export class EnrolmentModule {}
