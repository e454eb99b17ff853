import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Caller, Does, STRICT_BODY } from '@rollcall/nest-platform';
import type { WaitingCode } from '@rollcall/wire';
import type { SignedIn } from '../../access/person-authenticator.js';
import { TypedCodes } from '../../access/typed-codes.js';
import { INSTALLATIONS } from '../installations.js';
import { LookUpCodeDto, WaitingCodeDto } from './look-up-code.dto.js';

@ApiTags('codes')
@Does('look-up-code')
@Controller('v1/codes/look-up')
export class LookUpCodeController {
  constructor(private readonly codes: TypedCodes) {}

  /** Tells what claims to be behind a short code that a person typed. The code is in the body, so that no address and no log of them holds it. */
  @Post()
  @HttpCode(200)
  @ApiOkResponse({ type: WaitingCodeDto })
  @ApiProblems('not-signed-in', 'code-refused', 'too-many-wrong-codes', 'invalid-body', 'unavailable')
  lookUpCode(@Caller() { sessionId }: SignedIn, @Body(STRICT_BODY) body: LookUpCodeDto): Promise<WaitingCode> {
    return this.codes.withTyped(INSTALLATIONS, { typed: body.code, sessionId }, async (found) => {
      await this.codes.open(found);
      const { expiresAt, report } = found.state;
      return { code: found.code, expiresAt, claims: report };
    });
  }
}
