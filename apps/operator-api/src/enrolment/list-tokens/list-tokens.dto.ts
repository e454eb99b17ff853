import { ApiProperty } from '@nestjs/swagger';
import type { OpenTokenList, OpenTokenView } from '@rollcall/wire';

class WaitingNodeDto {
  @ApiProperty({ format: 'uuid', description: 'Its newest machine.' })
  machine!: string;

  @ApiProperty({ type: String, nullable: true })
  name!: string | null;
}

class OpenTokenDto implements OpenTokenView {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty({ enum: ['token', 'preadmission'] })
  kind!: OpenTokenView['kind'];

  @ApiProperty({ type: String, nullable: true, description: 'null: the machine that joins names itself.' })
  name!: string | null;

  @ApiProperty({
    type: WaitingNodeDto,
    nullable: true,
    description: 'The node that gets its next machine; null: one not seen before.',
  })
  node!: WaitingNodeDto | null;

  @ApiProperty({ format: 'date-time' })
  issuedAt!: string;

  @ApiProperty({ format: 'date-time' })
  expiresAt!: string;
}

export class OpenTokenListDto implements OpenTokenList {
  @ApiProperty({ type: [OpenTokenDto], description: 'The oldest first.' })
  tokens!: readonly OpenTokenDto[];
}
