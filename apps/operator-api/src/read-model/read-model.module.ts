import { Module } from '@nestjs/common';
import { PeopleModule } from '../people/people.module.js';
import { ListReadModelsController } from './list-read-models/list-read-models.controller.js';
import { RebuildReadModelController } from './rebuild-read-model/rebuild-read-model.controller.js';

/** People see how far the read models have come, and the first of them has one made again. */
@Module({ imports: [PeopleModule], controllers: [ListReadModelsController, RebuildReadModelController] })
export class ReadModelModule {}
