import { Module } from '@nestjs/common';
import { ListReadModelsController } from './list-read-models/list-read-models.controller.js';
import { RebuildReadModelController } from './rebuild-read-model/rebuild-read-model.controller.js';

/** People look after the read models. */
@Module({ controllers: [ListReadModelsController, RebuildReadModelController] })
export class ReadModelModule {}
