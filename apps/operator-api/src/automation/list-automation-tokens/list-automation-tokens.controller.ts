import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { EventStore } from '@rollcall/event-store';
import { Clock } from '@rollcall/lifetimes';
import { ApiProblems, Caller, Does } from '@rollcall/nest-platform';
import { automation, automationStream, liveTokens } from '@rollcall/person';
import type { AutomationTokenList } from '@rollcall/wire';
import type { SignedIn } from '../../access/person-authenticator.js';
import { shownToken } from '../shown-token.js';
import { AutomationTokenListDto } from './list-automation-tokens.dto.js';

@ApiTags('automation')
@Does('list-automation-tokens')
@Controller('v1/automation-tokens')
export class ListAutomationTokensController {
  constructor(
    private readonly store: EventStore,
    private readonly clock: Clock,
  ) {}

  /** The tokens with which programs act for the caller now. */
  @Get()
  @ApiOkResponse({ type: AutomationTokenListDto })
  @ApiProblems('not-signed-in', 'unavailable')
  async listAutomationTokens(@Caller() { id }: SignedIn): Promise<AutomationTokenList> {
    const view = await this.store.view(automation, { stream: automationStream(id) });
    return { tokens: view ? liveTokens(view.state, this.clock.wall()).map(shownToken) : [] };
  }
}
