import { ApiProperty } from '@nestjs/swagger';
import type { RotationAnswer, RotationRequest } from '@rollcall/wire';
import { Matches } from 'class-validator';

export class RotationDto implements RotationRequest {
  @ApiProperty({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of the credential that the machine made.' })
  @Matches(/^[0-9a-f]{64}$/, { message: '$property must be 64 lower-case hex digits' })
  credentialHash!: string;
}

/** The generation that the hash is; it counts from its first success in a check. */
export class RotationAnswerDto implements RotationAnswer {
  @ApiProperty({ type: 'integer' })
  generation!: number;
}
