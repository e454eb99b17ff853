import { Module } from '@nestjs/common';
import { CountMachinesController } from './count-machines/count-machines.controller.js';

/** Dashboards ask how many machines are what, and are told what changes (U3). */
@Module({ controllers: [CountMachinesController] })
export class PresenceModule {}
