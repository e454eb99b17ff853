import { Controller, Get, Headers, Req, Res } from '@nestjs/common';
import { ApiHeader, ApiOkResponse, ApiProduces, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Caller, Does, sendEvents } from '@rollcall/nest-platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Acting } from '../../access/acting.js';
import { sessionOf } from '../../access/browser-session.js';
import { PresenceStreams } from './presence-streams.js';

@ApiTags('presence')
@Does('follow-presence')
@Controller('v1/presence/stream')
export class FollowPresenceController {
  constructor(private readonly streams: PresenceStreams) {}

  /**
   * What happens to the machines that are the caller's, as server-sent events, for as long as the session lasts. Each event has JSON as its data.
   *
   * - `snapshot`, the first: the counts of `GET /v1/presence` at the place that is its id. Whoever wants the machines too asks for them now, and
   *   passes over a change whose `machine.revision` is below that of the list.
   * - `change`: `asOf` and the `machine` as it was after something happened to it: admitted, there, away or back, another name, lifecycle, blocker,
   *   label and so on. A check that says nothing new is none. Each change is told once, in the order of the record.
   * - `heard`, every 15 seconds while nothing happens: `asOf`, and `behind` where that is old.
   * - `reset`: as `snapshot`, in the place of changes that cannot be told one by one any more. Ask for the machines anew.
   * - `end`: `reason` is `too-slow`, `signed-out`, `stopping` or `unavailable`.
   *
   * The id of an event is a place in the record. Whoever comes back with it as `Last-Event-ID`, to any instance, is told what came after it, without
   * a gap and without a repetition, for a day.
   */
  @Get()
  @ApiHeader({ name: 'Last-Event-ID', required: false, description: 'The id of the last event of an earlier stream.' })
  @ApiProduces('text/event-stream')
  @ApiOkResponse({ description: 'Goes on until one side ends it.', schema: { type: 'string' } })
  @ApiProblems('not-signed-in', 'scope-missing', 'slow-down', 'unavailable')
  followPresence(
    @Caller() { owner }: Acting,
    @Headers('last-event-id') lastEventId: string | undefined,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): void {
    this.streams.requireRoom(owner);
    const bearer = sessionOf(request) ?? '';
    void sendEvents(request, reply, (ended) => this.streams.events({ id: owner, bearer, lastEventId }, ended));
  }
}
