import { Module } from '@nestjs/common';
import { DeleteMachineController } from './delete-machine/delete-machine.controller.js';
import { DeleteMachineHandler } from './delete-machine/delete-machine.handler.js';
import { ExplainMachineController } from './explain-machine/explain-machine.controller.js';
import { LabelMachineController } from './label-machine/label-machine.controller.js';
import { LabelMachineHandler } from './label-machine/label-machine.handler.js';
import { ListBlockersController } from './list-blockers/list-blockers.controller.js';
import { ListMachinesController } from './list-machines/list-machines.controller.js';
import { OlderUses } from './older-uses.js';
import { OpenAdmissions } from './open-admissions.js';
import { OwnedMachines } from './owned-machines.js';
import { OwnedPromises } from '../promise/owned-promises.js';
import { PauseMachineController } from './pause-machine/pause-machine.controller.js';
import { PauseMachineHandler } from './pause-machine/pause-machine.handler.js';
import { RenameMachineController } from './rename-machine/rename-machine.controller.js';
import { RenameMachineHandler } from './rename-machine/rename-machine.handler.js';
import { RequestLogTailController } from './request-log-tail/request-log-tail.controller.js';
import { RequestLogTailHandler } from './request-log-tail/request-log-tail.handler.js';
import { RequestRotationController } from './request-rotation/request-rotation.controller.js';
import { RequestRotationHandler } from './request-rotation/request-rotation.handler.js';
import { ResumeMachineController } from './resume-machine/resume-machine.controller.js';
import { ResumeMachineHandler } from './resume-machine/resume-machine.handler.js';
import { ShowHistoryController } from './show-history/show-history.controller.js';
import { ShowLogTailController } from './show-log-tail/show-log-tail.controller.js';
import { VacatedNodes } from './vacated-nodes.js';
import { UploadedLogTail } from './show-log-tail/uploaded-log-tail.js';
import { ShowMachineController } from './show-machine/show-machine.controller.js';
import { ShowReadinessController } from './show-readiness/show-readiness.controller.js';

/** People see, name, label, pause and delete the machines that are theirs. */
@Module({
  controllers: [
    ListMachinesController,
    ShowMachineController,
    RenameMachineController,
    DeleteMachineController,
    PauseMachineController,
    ResumeMachineController,
    LabelMachineController,
    RequestLogTailController,
    RequestRotationController,
    ShowLogTailController,
    ShowHistoryController,
    ExplainMachineController,
    ListBlockersController,
    ShowReadinessController,
  ],
  providers: [
    OlderUses,
    OpenAdmissions,
    OwnedMachines,
    OwnedPromises,
    RenameMachineHandler,
    DeleteMachineHandler,
    PauseMachineHandler,
    ResumeMachineHandler,
    LabelMachineHandler,
    RequestLogTailHandler,
    RequestRotationHandler,
    UploadedLogTail,
    VacatedNodes,
  ],
  exports: [OpenAdmissions, OwnedMachines, OwnedPromises, VacatedNodes],
})
export class MachineModule {}
