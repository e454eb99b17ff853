import { Module } from '@nestjs/common';
import { MachineModule } from '../machine/machine.module.js';
import { ApproveCodeController } from './approve-code/approve-code.controller.js';
import { ApproveShortCodeHandler } from './approve-code/approve-code.handler.js';
import { LookUpCodeController } from './look-up-code/look-up-code.controller.js';
import { RefuseCodeController } from './refuse-code/refuse-code.controller.js';
import { RefuseShortCodeHandler } from './refuse-code/refuse-code.handler.js';
import { TypedCodes } from '../access/typed-codes.js';

/** People answer installations that show a short code. */
@Module({
  imports: [MachineModule],
  controllers: [LookUpCodeController, ApproveCodeController, RefuseCodeController],
  providers: [TypedCodes, ApproveShortCodeHandler, RefuseShortCodeHandler],
})
export class CodeModule {}
