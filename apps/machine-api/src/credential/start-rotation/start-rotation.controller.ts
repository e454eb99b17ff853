import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Caller, Does, TOLERANT_BODY } from '@rollcall/nest-platform';
import type { RotationAnswer } from '@rollcall/wire';
import type { PresentedCredential } from '../../machine/presented-credential.js';
import { StartMachineRotation } from './start-rotation.command.js';
import { RotationAnswerDto, RotationDto } from './start-rotation.dto.js';

@ApiTags('machine')
@Does('start-rotation')
@Controller('v1/credential/rotations')
export class StartRotationController {
  constructor(private readonly commands: CommandBus) {}

  /** Registers the next credential of this machine. The same hash again is the same generation; the old one counts until the new one was used (O19). */
  @Post()
  @HttpCode(200)
  @ApiOkResponse({ type: RotationAnswerDto })
  @ApiProblems(
    'credential-unknown',
    'generation-behind',
    'credential-revoked',
    'hash-registered-before',
    'invalid-body',
    'malformed-body',
    'too-large',
    'unsupported-type',
    'unavailable',
  )
  startRotation(
    @Caller() { keyHash }: PresentedCredential,
    @Body(TOLERANT_BODY) { credentialHash }: RotationDto,
  ): Promise<RotationAnswer> {
    return this.commands.execute(new StartMachineRotation(keyHash, credentialHash));
  }
}
