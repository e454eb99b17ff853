import { Module } from '@nestjs/common';
import { BeginSignInController } from './begin-sign-in/begin-sign-in.controller.js';
import { FinishSignInController } from './finish-sign-in/finish-sign-in.controller.js';
import { SignInByAccountHandler } from './finish-sign-in/finish-sign-in.handler.js';
import { LinkAccountController } from './link-account/link-account.controller.js';
import { LinkAccountHandler } from './link-account/link-account.handler.js';
import { ListAccountsController } from './list-accounts/list-accounts.controller.js';
import { ShowProviderController } from './show-provider/show-provider.controller.js';
import { UnlinkAccountController } from './unlink-account/unlink-account.controller.js';
import { UnlinkAccountHandler } from './unlink-account/unlink-account.handler.js';

/** People sign in at the identity provider of their organisation, with accounts that they have linked (OpenID Connect). */
@Module({
  controllers: [
    ShowProviderController,
    BeginSignInController,
    FinishSignInController,
    LinkAccountController,
    ListAccountsController,
    UnlinkAccountController,
  ],
  providers: [SignInByAccountHandler, LinkAccountHandler, UnlinkAccountHandler],
})
export class AccountModule {}
