import { Module } from '@nestjs/common';
import { AddPersonController } from './add-person/add-person.controller.js';
import { AddPersonHandler } from './add-person/add-person.handler.js';
import { AddedPeople } from './added-people.js';
import { IssueSignInLinkController } from './issue-sign-in-link/issue-sign-in-link.controller.js';
import { IssueSignInLinkHandler } from './issue-sign-in-link/issue-sign-in-link.handler.js';
import { ListPeopleController } from './list-people/list-people.controller.js';
import { RemovePersonController } from './remove-person/remove-person.controller.js';
import { RemovePersonHandler } from './remove-person/remove-person.handler.js';

/** The first person lets others use the plane, each with machines of their own. */
@Module({
  controllers: [AddPersonController, ListPeopleController, IssueSignInLinkController, RemovePersonController],
  providers: [AddedPeople, AddPersonHandler, IssueSignInLinkHandler, RemovePersonHandler],
  exports: [AddedPeople],
})
export class PeopleModule {}
