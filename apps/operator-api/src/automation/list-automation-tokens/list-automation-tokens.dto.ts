import { ApiProperty } from '@nestjs/swagger';
import type { AutomationTokenList } from '@rollcall/wire';
import { AutomationTokenDto } from '../automation-token.dto.js';

export class AutomationTokenListDto implements AutomationTokenList {
  @ApiProperty({ type: [AutomationTokenDto], description: 'Those that can be used, the oldest first.' })
  tokens!: readonly AutomationTokenDto[];
}
