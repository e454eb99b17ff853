import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { EventStore } from '@rollcall/event-store';
import { ApiProblems, Caller, Does } from '@rollcall/nest-platform';
import { person, personStream } from '@rollcall/person';
import type { AccountList } from '@rollcall/wire';
import type { SignedIn } from '../../access/person-authenticator.js';
import { AccountListDto } from './list-accounts.dto.js';

@ApiTags('sessions')
@Does('list-accounts')
@Controller('v1/accounts')
export class ListAccountsController {
  constructor(private readonly store: EventStore) {}

  /** The accounts at identity providers that are linked to the caller, the oldest link first. */
  @Get()
  @ApiOkResponse({ type: AccountListDto })
  @ApiProblems('not-signed-in', 'unavailable')
  async listAccounts(@Caller() { id }: SignedIn): Promise<AccountList> {
    const view = await this.store.view(person, { stream: personStream(id) });
    const accounts = view?.state.accounts ?? [];
    return { accounts: accounts.map(({ accountId, provider, linkedAt }) => ({ id: accountId, provider, linkedAt })) };
  }
}
