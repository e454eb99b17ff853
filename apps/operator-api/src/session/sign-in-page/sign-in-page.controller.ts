import { Controller, Get, Header } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Does } from '@rollcall/nest-platform';

/** What a browser shows that follows a sign-in link. The secret stands behind `#`, so it has not come here. */
@ApiExcludeController()
@Does('show-sign-in-page')
@Controller('sign-in')
export class SignInPageController {
  @Get()
  @Header('content-type', 'text/plain; charset=utf-8')
  show(): string {
    return 'This is a sign-in link for the command line. Run `rollcall login` and paste the whole link there.\n';
  }
}
