import { ApiProperty } from '@nestjs/swagger';
import type { DeleteAnswer, DeleteRequest } from '@rollcall/wire';
import { IsUUID } from 'class-validator';

export class DeleteMachineDto implements DeleteRequest {
  @ApiProperty({ format: 'uuid', description: 'Made by the caller and kept over retries.' })
  @IsUUID()
  commandId!: string;
}

class DeletedMachineDto {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty({ type: String, nullable: true })
  name!: string | null;

  @ApiProperty({ enum: ['deleted'] })
  lifecycle!: 'deleted';
}

export class DeleteAnswerDto implements DeleteAnswer {
  @ApiProperty()
  machine!: DeletedMachineDto;
}
