import { Body, Controller, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiCreatedResponse, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Does, STRICT_BODY } from '@rollcall/nest-platform';
import type { SignInAnswer } from '@rollcall/wire';
import { SignIn } from './sign-in.command.js';
import { SignInAnswerDto, SignInDto } from './sign-in.dto.js';

@ApiTags('sessions')
@Controller('v1/sessions')
export class SignInController {
  constructor(private readonly commands: CommandBus) {}

  /** Turns a one-time link into a session. */
  @Post()
  @Does('sign-in')
  @ApiCreatedResponse({ type: SignInAnswerDto })
  @ApiProblems('link-refused', 'slow-down', 'invalid-body', 'unavailable')
  signIn(@Body(STRICT_BODY) { link }: SignInDto): Promise<SignInAnswer> {
    return this.commands.execute(new SignIn(link));
  }
}
