import { Body, Controller, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiCreatedResponse, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Caller, Does, STRICT_BODY } from '@rollcall/nest-platform';
import type { AddWebhookAnswer } from '@rollcall/wire';
import type { Acting } from '../../access/acting.js';
import { AddOwnedWebhook } from './add-webhook.command.js';
import { AddWebhookAnswerDto, AddWebhookDto } from './add-webhook.dto.js';

@ApiTags('webhooks')
@Does('add-webhook')
@Controller('v1/webhooks')
export class AddWebhookController {
  constructor(private readonly commands: CommandBus) {}

  /**
   * Lets a program be told what happens to the caller's machines from now on (U5). The secret is answered here only; a repetition is
   * answered with another one, because nobody can know whether the first was read, and for 24 hours both are valid.
   */
  @Post()
  @ApiCreatedResponse({ type: AddWebhookAnswerDto })
  @ApiProblems(
    'not-signed-in',
    'scope-missing',
    'webhook-target-refused',
    'invalid-body',
    'webhook-key-missing',
    'unavailable',
  )
  addWebhook(
    @Caller() by: Acting,
    @Body(STRICT_BODY) { promisedOnly = false, ...wanted }: AddWebhookDto,
  ): Promise<AddWebhookAnswer> {
    return this.commands.execute(new AddOwnedWebhook(by, { ...wanted, promisedOnly }));
  }
}
