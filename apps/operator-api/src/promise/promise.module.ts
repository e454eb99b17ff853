import { Module } from '@nestjs/common';
import { MachineModule } from '../machine/machine.module.js';
import { ListPromisesController } from './list-promises/list-promises.controller.js';
import { MakePromiseController } from './make-promise/make-promise.controller.js';
import { MakePromiseHandler } from './make-promise/make-promise.handler.js';
import { PromiseSubject } from './promise-subject.js';
import { WithdrawPromiseController } from './withdraw-promise/withdraw-promise.controller.js';
import { WithdrawPromiseHandler } from './withdraw-promise/withdraw-promise.handler.js';

/** People promise that machines are there, at times: only against a promise is an absence an alarm (N11). */
@Module({
  imports: [MachineModule],
  controllers: [ListPromisesController, MakePromiseController, WithdrawPromiseController],
  providers: [PromiseSubject, MakePromiseHandler, WithdrawPromiseHandler],
})
export class PromiseModule {}
