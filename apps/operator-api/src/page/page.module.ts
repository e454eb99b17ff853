import { Module } from '@nestjs/common';
import { PageController } from './page.controller.js';

/** The web page. */
@Module({ controllers: [PageController] })
export class PageModule {}
