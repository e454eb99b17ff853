import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { login, loginStream } from '@rollcall/admission';
import { EventStore } from '@rollcall/event-store';
import { Clock } from '@rollcall/lifetimes';
import { ApiProblems, Caller, Does } from '@rollcall/nest-platform';
import { liveSessions, person, personStream, type Session } from '@rollcall/person';
import type { SessionList } from '@rollcall/wire';
import type { SignedIn } from '../../access/person-authenticator.js';
import { SessionUses } from '../../access/session-uses.js';
import { SessionListDto } from './list-sessions.dto.js';

@ApiTags('sessions')
@Does('list-sessions')
@Controller('v1/sessions')
export class ListSessionsController {
  constructor(
    private readonly store: EventStore,
    private readonly clock: Clock,
    private readonly uses: SessionUses,
  ) {}

  /** The sessions of the caller that can be used, the oldest first. */
  @Get()
  @ApiOkResponse({ type: SessionListDto })
  @ApiProblems('not-signed-in', 'unavailable')
  async listSessions(@Caller() { id, sessionId }: SignedIn): Promise<SessionList> {
    const view = await this.store.view(person, { stream: personStream(id) });
    const live = view ? liveSessions(view.state, this.clock.wall()) : [];
    const over = await Promise.all(live.map((session) => this.uses.isOver(session, false)));
    const usable = live.filter((_, index) => !over[index]);
    return {
      sessions: await Promise.all(
        usable.map(async (session) => ({
          id: session.sessionId,
          current: session.sessionId === sessionId,
          by: session.login ? 'code' : session.account ? 'account' : 'link',
          device: await this.deviceOf(session),
          expiresAt: session.expiresAt,
        })),
      ),
    };
  }

  private async deviceOf({ login: id }: Session): Promise<string | null> {
    return id === undefined
      ? null
      : ((await this.store.view(login, { stream: loginStream(id) }))?.state?.claims.device ?? null);
  }
}
