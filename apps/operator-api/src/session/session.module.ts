import { Module } from '@nestjs/common';
import { EndSessionController } from './end-session/end-session.controller.js';
import { ListSessionsController } from './list-sessions/list-sessions.controller.js';
import { ShowMeController } from './show-me/show-me.controller.js';
import { SignInBrowserController } from './sign-in-browser/sign-in-browser.controller.js';
import { SignInController } from './sign-in/sign-in.controller.js';
import { SignInHandler } from './sign-in/sign-in.handler.js';
import { SignOutController } from './sign-out/sign-out.controller.js';
import { SignOutHandler } from './sign-out/sign-out.handler.js';

/** People sign in with a link, see who they are, and sign out. */
@Module({
  controllers: [
    ListSessionsController,
    EndSessionController,
    SignInController,
    SignOutController,
    ShowMeController,
    SignInBrowserController,
  ],
  providers: [SignInHandler, SignOutHandler],
})
export class SessionModule {}
