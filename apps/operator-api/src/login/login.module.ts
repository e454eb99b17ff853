import { Module } from '@nestjs/common';
import { TypedCodes } from '../access/typed-codes.js';
import { ApproveLoginController } from './approve-login/approve-login.controller.js';
import { ApproveLoginHandler } from './approve-login/approve-login.handler.js';
import { LookUpLoginController } from './look-up-login/look-up-login.controller.js';
import { RedeemLoginController } from './redeem-login/redeem-login.controller.js';
import { RedeemLoginHandler } from './redeem-login/redeem-login.handler.js';
import { RefuseLoginController } from './refuse-login/refuse-login.controller.js';
import { RefuseLoginHandler } from './refuse-login/refuse-login.handler.js';
import { RequestLoginController } from './request-login/request-login.controller.js';
import { RequestLoginHandler } from './request-login/request-login.handler.js';

/** Programs without a browser sign in with a short code that a person approves in one (RFC 8628). */
@Module({
  controllers: [
    RequestLoginController,
    RedeemLoginController,
    LookUpLoginController,
    ApproveLoginController,
    RefuseLoginController,
  ],
  providers: [TypedCodes, RequestLoginHandler, RedeemLoginHandler, ApproveLoginHandler, RefuseLoginHandler],
})
export class LoginModule {}
