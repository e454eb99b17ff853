import { Module } from '@nestjs/common';
import { IssueTokenController } from './issue-token/issue-token.controller.js';
import { IssueEnrolmentTokenHandler } from './issue-token/issue-token.handler.js';

/** People let machines join. */
@Module({ controllers: [IssueTokenController], providers: [IssueEnrolmentTokenHandler] })
export class EnrolmentModule {}
