import { Controller, Delete, HttpCode, Param } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiNoContentResponse, ApiTags } from '@nestjs/swagger';
import { Refusal } from '@rollcall/decider';
import { EventStore } from '@rollcall/event-store';
import { ApiProblems, Caller, Does } from '@rollcall/nest-platform';
import { person, personStream } from '@rollcall/person';
import type { SignedIn } from '../../access/person-authenticator.js';
import { SignOut } from '../sign-out/sign-out.command.js';

@ApiTags('sessions')
@Does('end-session')
@Controller('v1/sessions/:session')
export class EndSessionController {
  constructor(
    private readonly commands: CommandBus,
    private readonly store: EventStore,
  ) {}

  /** Ends a session of the caller, on whichever computer it is: nobody can use it from the next request on. */
  @Delete()
  @HttpCode(204)
  @ApiNoContentResponse()
  @ApiProblems('not-signed-in', 'session-not-found', 'unavailable')
  async endSession(@Caller() { id }: SignedIn, @Param('session') sessionId: string): Promise<void> {
    const view = await this.store.view(person, { stream: personStream(id) });
    if (!view?.state.sessions.some((session) => session.sessionId === sessionId))
      throw new Refusal('session-not-found');
    await this.commands.execute(new SignOut(id, sessionId));
  }
}
