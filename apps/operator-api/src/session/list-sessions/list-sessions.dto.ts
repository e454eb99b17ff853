import { ApiProperty } from '@nestjs/swagger';
import { SESSION_ORIGINS, type SessionList, type SessionView } from '@rollcall/wire';

class SessionViewDto implements SessionView {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty({ description: 'Whether it is the one that asks.' })
  current!: boolean;

  @ApiProperty({ enum: SESSION_ORIGINS, description: 'What showed who the person is.' })
  by!: SessionView['by'];

  @ApiProperty({ type: String, nullable: true, description: 'What a program that signed in by a code said of itself.' })
  device!: string | null;

  @ApiProperty({ format: 'date-time' })
  expiresAt!: string;
}

export class SessionListDto implements SessionList {
  @ApiProperty({ type: [SessionViewDto] })
  sessions!: readonly SessionViewDto[];
}
