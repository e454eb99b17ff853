import { ApiProperty } from '@nestjs/swagger';
import type { ProviderAnswer } from '@rollcall/wire';

class ProviderDto {
  @ApiProperty()
  name!: string;
}

export class ProviderAnswerDto implements ProviderAnswer {
  @ApiProperty({ type: ProviderDto, nullable: true, description: 'null: people sign in with links only.' })
  provider!: ProviderDto | null;
}
