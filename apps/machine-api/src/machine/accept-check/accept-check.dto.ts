import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { STOP_REASONS, type StopReason } from '@rollcall/machine';
import type { CheckAnswer } from '@rollcall/wire';
import { Type } from 'class-transformer';
import {
  IsDefined,
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  IsUUID,
  Matches,
  Max,
  Min,
  ValidateIf,
  ValidateNested,
} from 'class-validator';
import { nameFrom, readinessFrom, reportFrom } from '../display-fields.js';
import { EnrolledMachineDto } from '../enrol/enrol.dto.js';
import type { SaidCheck } from './accept-check.command.js';

const MOST = 2 ** 31 - 1;

class BootDto {
  @ApiProperty({ type: 'integer', minimum: 1, maximum: MOST, description: 'Counts the starts of the agent.' })
  @IsInt()
  @Min(1)
  @Max(MOST)
  counter!: number;

  @ApiProperty({ pattern: '^[0-9a-f]{8}$', description: 'Random, made at each start.' })
  @Matches(/^[0-9a-f]{8}$/, { message: '$property must be 8 lower-case hex digits' })
  id!: string;
}

/**
 * What a check is ordered and repeated by must be right. Everything else is display: it is cleaned instead of refused, and never
 * costs a machine its liveness (C11).
 */
export class CheckDto {
  @ApiProperty()
  @IsDefined()
  @IsObject()
  @ValidateNested()
  @Type(() => BootDto)
  boot!: BootDto;

  @ApiProperty({ type: 'integer', minimum: 1, maximum: MOST, description: 'Counts the checks of this start.' })
  @IsInt()
  @Min(1)
  @Max(MOST)
  sequence!: number;

  @ApiProperty({ format: 'uuid', description: 'Random per check, kept with its body over the retries.' })
  @IsUUID()
  checkId!: string;

  @ApiPropertyOptional({ type: String, nullable: true, description: 'The chain token of the newest answer.' })
  @IsOptional()
  chain?: unknown;

  @ApiPropertyOptional({
    type: Object,
    description: 'What the agent believes it is: `machine`, `generation`. Display only.',
  })
  @IsOptional()
  believes?: unknown;

  @ApiProperty({ enum: ['running', 'stopping'] })
  @IsIn(['running', 'stopping'])
  said!: 'running' | 'stopping';

  @ApiPropertyOptional({ enum: STOP_REASONS, nullable: true, description: 'Required when `said` is `stopping`.' })
  @ValidateIf(({ said }: CheckDto) => said === 'stopping')
  @IsIn(STOP_REASONS)
  reason?: StopReason | null;

  @ApiPropertyOptional({
    type: [String],
    nullable: true,
    description: 'Codes of what keeps it from taking work; null: not probed yet.',
  })
  @IsOptional()
  blockers?: unknown;

  @ApiPropertyOptional({
    type: [String],
    nullable: true,
    description: 'Codes about which nothing is known at present; what is stored about them stays.',
  })
  @IsOptional()
  notProbed?: unknown;

  @ApiPropertyOptional({ type: String, nullable: true, description: 'The name to adopt, once.' })
  @IsOptional()
  name?: unknown;

  @ApiPropertyOptional({ type: Object, description: '`hostname`, `agentVersion`, `platform`, `arch`. Display only.' })
  @IsOptional()
  report?: unknown;

  @ApiPropertyOptional({ type: Number, description: 'How long the agent was cut off before this check.' })
  @IsOptional()
  secondsCutOff?: unknown;
}

/** Puts a check into the words of the machine's rules. */
export const saidBy = ({
  boot,
  sequence,
  checkId,
  said,
  reason,
  chain,
  blockers,
  notProbed,
  name,
  report,
}: CheckDto): SaidCheck => ({
  boot: { counter: boot.counter, id: boot.id },
  sequence,
  checkId: checkId.toLowerCase(),
  said,
  reason: said === 'stopping' ? (reason ?? null) : null,
  ...readinessFrom(blockers, notProbed),
  name: nameFrom(name),
  report: reportFrom(report),
  chainToken: typeof chain === 'string' ? chain : null,
});

class CheckedMachineDto extends EnrolledMachineDto {
  @ApiProperty({ type: 'integer' })
  generation!: number;
}

class RequestsDto {
  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'The stamp of the request for the tail of the log, until an upload echoes it.',
  })
  logTail!: string | null;

  @ApiProperty()
  rotate!: boolean;
}

/** The answer to a check. */
export class CheckAnswerDto implements CheckAnswer {
  @ApiProperty()
  machine!: CheckedMachineDto;

  @ApiProperty({ type: 'integer', description: 'Seconds until the next check.' })
  interval!: number;

  @ApiProperty({ description: 'To be presented by the next check.' })
  chain!: string;

  @ApiPropertyOptional({
    type: [String],
    description: "Pins of the plane's CA key; absent where it has a public certificate.",
  })
  pins?: readonly string[];

  @ApiProperty()
  requests!: RequestsDto;

  @ApiProperty({ format: 'date-time', description: 'Information; nothing is decided by it.' })
  serverTime!: string;
}
