import { Module } from '@nestjs/common';
import { CountMachinesController } from './count-machines/count-machines.controller.js';
import { FollowPresenceController } from './follow-presence/follow-presence.controller.js';
import { PresenceStreams } from './follow-presence/presence-streams.js';

/** Dashboards ask how many machines are what, and are told what changes (U3). */
@Module({ controllers: [CountMachinesController, FollowPresenceController], providers: [PresenceStreams] })
export class PresenceModule {}
