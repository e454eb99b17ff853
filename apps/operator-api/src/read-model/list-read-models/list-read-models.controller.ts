import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Does } from '@rollcall/nest-platform';
import { ReadModelQueries } from '@rollcall/read-models';
import type { ReadModelList } from '@rollcall/wire';
import { ReadModelListDto } from './list-read-models.dto.js';

@ApiTags('read models')
@Does('list-read-models')
@Controller('v1/read-models')
export class ListReadModelsController {
  constructor(private readonly readModels: ReadModelQueries) {}

  /** How far each read model has followed the record. */
  @Get()
  @ApiOkResponse({ type: ReadModelListDto })
  @ApiProblems('not-signed-in', 'unavailable')
  async listReadModels(): Promise<ReadModelList> {
    return { readModels: await this.readModels.status() };
  }
}
