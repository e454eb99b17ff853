import { ApiProperty } from '@nestjs/swagger';
import type { AccountList } from '@rollcall/wire';

class AccountDto {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty({ description: 'The host of the identity provider.' })
  provider!: string;

  @ApiProperty({ format: 'date-time' })
  linkedAt!: string;
}

export class AccountListDto implements AccountList {
  @ApiProperty({ type: [AccountDto] })
  accounts!: readonly AccountDto[];
}
