import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { ApiProblems, Caller, Does, STRICT_BODY } from '@rollcall/nest-platform';
import type { WaitingLogin } from '@rollcall/wire';
import type { SignedIn } from '../../access/person-authenticator.js';
import { TypedCodes } from '../../access/typed-codes.js';
import { LookUpCodeDto } from '../../code/look-up-code/look-up-code.dto.js';
import { LOGINS } from '../logins.js';
import { WaitingLoginDto } from './look-up-login.dto.js';

@ApiTags('sessions')
@Does('look-up-login')
@Controller('v1/logins/look-up')
export class LookUpLoginController {
  constructor(private readonly codes: TypedCodes) {}

  /** Tells what the program claims to be that shows a short code which a person typed. */
  @Post()
  @HttpCode(200)
  @ApiOkResponse({ type: WaitingLoginDto })
  @ApiProblems('not-signed-in', 'code-refused', 'too-many-wrong-codes', 'invalid-body', 'unavailable')
  lookUpLogin(@Caller() { sessionId }: SignedIn, @Body(STRICT_BODY) body: LookUpCodeDto): Promise<WaitingLogin> {
    return this.codes.withTyped(LOGINS, { typed: body.code, sessionId }, async (found) => {
      await this.codes.open(found);
      const { expiresAt, claims } = found.state;
      return { code: found.code, expiresAt, claims };
    });
  }
}
