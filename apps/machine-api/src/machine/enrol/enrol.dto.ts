import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { EnrolmentAnswer } from '@rollcall/wire';
import { IsOptional, IsString, IsUUID, Matches } from 'class-validator';

/** Who wants to join. Nothing but the token is a right to anything (O5). */
export class EnrolmentDto {
  @ApiProperty({ description: 'The secret part of the enrolment token, `rce_…`.' })
  @IsString()
  token!: string;

  @ApiProperty({ format: 'uuid', description: 'Random; the installation made it and keeps it.' })
  @IsUUID()
  identifier!: string;

  @ApiProperty({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of the credential that the installation made.' })
  @Matches(/^[0-9a-f]{64}$/, { message: '$property must be 64 lower-case hex digits' })
  credentialHash!: string;

  @ApiPropertyOptional({ type: Object, description: '`hostname`, `agentVersion`, `platform`, `arch`. Display only.' })
  @IsOptional()
  profile?: unknown;
}

/** What a machine is told of itself. */
export class EnrolledMachineDto {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty({ type: String, nullable: true })
  name!: string | null;

  @ApiProperty({ description: 'The id of the person that owns it.' })
  owner!: string;
}

/** The machine that this installation is from now on. */
export class EnrolmentAnswerDto implements EnrolmentAnswer {
  @ApiProperty()
  machine!: EnrolledMachineDto;

  @ApiProperty({ type: 'integer', description: 'Seconds between checks.' })
  interval!: number;
}
