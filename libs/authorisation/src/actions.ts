import type { Scope } from './scopes.js';

/** Who may carry an action out. A kind of actor that is not named may not. */
export type ActionRule = {
  /** What the action does, in one sentence. */
  readonly does: string;
  /** `fresh`: only one whose session began a short time ago (`FRESH_SECONDS`). */
  readonly person?: 'signed-in' | 'fresh';
  /** A machine with its own credential, about itself. */
  readonly machine?: true;
  /** An automation token with this scope. */
  readonly automation?: Scope;
  /** Whoever asks, without a credential; what they bring in the body is judged by the rule of the command. */
  readonly nobody?: true;
};

const rules = {
  // whoever asks
  'tell-health': { does: 'Tells whether an instance runs and can serve.', nobody: true },
  'show-page': { does: 'Shows the web page, which says nothing by itself.', nobody: true },
  'sign-in-browser': { does: 'Turns a one-time link into a session of a browser.', nobody: true },
  'sign-in': { does: 'Turns a one-time link into a session.', nobody: true },
  'request-login': {
    does: 'Makes a short code for a program that wants to sign in; it lets in nobody before a person approves it.',
    nobody: true,
  },
  'redeem-login': { does: 'Turns a login that a person approved into a session, once.', nobody: true },
  'show-provider': { does: 'Tells which identity provider one can sign in at.', nobody: true },
  'begin-provider-sign-in': { does: 'Sends a browser to the identity provider.', nobody: true },
  'finish-provider-sign-in': { does: 'Takes a browser back that signed in at the identity provider.', nobody: true },
  enrol: { does: 'Redeems an enrolment token, which a person issued, for the machine that presents it.', nobody: true },

  'request-code': {
    does: 'Makes a short code for an installation that has no token; it lets in nobody before a person approves it.',
    nobody: true,
  },
  'redeem-code': { does: 'Admits the installation whose short code a person approved, once.', nobody: true },

  // a machine, about itself
  'redeem-preadmission': {
    does: 'Admits the machine that presents a credential which a person registered beforehand, once.',
    machine: true,
  },
  'accept-check': { does: 'Records that a machine is there.', machine: true },
  'start-rotation': { does: 'Registers the next credential of a machine.', machine: true },
  'receive-log-tail': { does: 'Takes the log that the plane asked a machine for.', machine: true },

  // what admits and what cannot be taken back: a session that was left open must not be enough
  'issue-token': { does: 'Registers an enrolment token, which admits one machine.', person: 'fresh' },
  'list-tokens': { does: 'Lists what the person has registered and nobody has used yet.', person: 'signed-in' },
  'withdraw-token': { does: 'Takes such a token back, so that it admits nobody.', person: 'signed-in' },
  'preadmit-machine': {
    does: 'Registers the credential of a machine to come, which admits that machine.',
    person: 'fresh',
  },
  'approve-code': { does: 'Lets in the installation that shows a short code.', person: 'fresh' },
  'delete-machine': { does: 'Deletes a machine and so revokes its credential for good.', person: 'fresh' },

  // what others may do in a person's name
  'issue-automation-token': { does: 'Lets a program act for the person, within scopes.', person: 'fresh' },
  'list-automation-tokens': { does: 'Lists the programs that may.', person: 'signed-in' },
  'revoke-automation-token': { does: 'Ends what a program may do.', person: 'signed-in' },

  // people
  'add-person': { does: 'Lets somebody use this plane; only its first person may.', person: 'fresh' },
  'issue-sign-in-link': {
    does: 'Lets somebody sign in once; only the first person may, for whom they added.',
    person: 'fresh',
  },
  'remove-person': {
    does: 'Ends all that somebody could sign in with, for good; only the first person may, for whom they added.',
    person: 'fresh',
  },
  'list-people': { does: 'Lists those whom the caller has added, and the caller.', person: 'signed-in' },

  // workspaces
  'create-workspace': { does: 'Makes a workspace.', person: 'signed-in' },
  'list-workspaces': { does: 'Lists the workspaces that the caller belongs to.', person: 'signed-in' },
  'show-workspace': { does: 'Shows a workspace with the directories that are bound to it.', person: 'signed-in' },
  'add-member': { does: 'Lets somebody see a workspace; only its owner may.', person: 'fresh' },
  'remove-member': { does: 'Takes a member out of a workspace; only its owner may.', person: 'signed-in' },
  'leave-workspace': { does: 'Takes the caller out of a workspace of somebody else.', person: 'signed-in' },
  'bind-directory': {
    does: 'Binds a directory on a node to a workspace; only the owner of both may.',
    person: 'fresh',
  },
  'unbind-directory': { does: 'Takes a directory out of a workspace; only its owner may.', person: 'signed-in' },

  // sessions
  'show-me': { does: 'Tells whose session it is.', person: 'signed-in' },
  'link-account': { does: 'Links an account at the identity provider to the person.', person: 'fresh' },
  'list-accounts': { does: 'Lists the accounts that are linked to the person.', person: 'signed-in' },
  'unlink-account': { does: 'Ends the link of an account to the person.', person: 'signed-in' },
  'list-sessions': { does: 'Lists the sessions of the person.', person: 'signed-in' },
  'end-session': { does: 'Ends a session of the person.', person: 'signed-in' },
  'sign-out': { does: 'Ends the session that asks.', person: 'signed-in' },

  // programs that sign in with a short code
  'look-up-login': { does: 'Tells what a program that shows a short code claims to be.', person: 'signed-in' },
  'approve-login': { does: 'Lets the program that shows a short code act as the person.', person: 'fresh' },
  'refuse-login': { does: 'Refuses the program that shows a short code.', person: 'signed-in' },

  // short codes
  'look-up-code': { does: 'Tells what an installation that shows a short code claims to be.', person: 'signed-in' },
  'refuse-code': { does: 'Refuses the installation that shows a short code.', person: 'signed-in' },

  // machines
  'list-machines': { does: 'Lists machines.', person: 'signed-in', automation: 'presence:read' },
  'show-machine': { does: 'Shows one machine.', person: 'signed-in', automation: 'presence:read' },
  'show-readiness': {
    does: 'Tells whether a machine can take work, and what is in the way.',
    person: 'signed-in',
    automation: 'readiness:read',
  },
  'list-blockers': {
    does: 'Explains the codes of what can be in the way of work.',
    person: 'signed-in',
    automation: 'readiness:read',
  },
  'show-history': { does: 'Tells what happened to a machine.', person: 'signed-in', automation: 'audit:read' },
  'explain-machine': {
    does: 'Tells what an answer about a machine rests on.',
    person: 'signed-in',
    automation: 'audit:read',
  },
  'rename-machine': { does: 'Gives a machine another name.', person: 'signed-in' },
  'label-machine': { does: 'Changes the labels of a machine.', person: 'signed-in' },
  'pause-machine': { does: 'Keeps work from a machine until a time.', person: 'signed-in' },
  'resume-machine': { does: 'Ends a pause.', person: 'signed-in' },
  'request-rotation': { does: 'Asks a machine for a new credential.', person: 'signed-in' },
  'request-log-tail': { does: 'Asks a machine for the end of its log.', person: 'signed-in' },
  'show-log-tail': { does: 'Shows the log that a machine uploaded.', person: 'signed-in' },

  // the fleet
  'count-machines': { does: 'Counts machines by presence.', person: 'signed-in', automation: 'presence:read' },
  'follow-presence': { does: 'Tells of every change as it happens.', person: 'signed-in', automation: 'presence:read' },
  'list-promises': { does: 'Lists what was promised of presence.', person: 'signed-in' },
  'make-promise': { does: 'Promises presence.', person: 'signed-in' },
  'withdraw-promise': { does: 'Takes a promise back.', person: 'signed-in' },

  // read models
  'list-read-models': { does: 'Tells how far each read model has followed the record.', person: 'signed-in' },
  'rebuild-read-model': {
    does: 'Makes a read model again from the record; only the first person may.',
    person: 'signed-in',
  },

  // webhooks
  'list-webhooks': { does: 'Lists webhooks.', person: 'signed-in', automation: 'webhooks:manage' },
  'list-deliveries': { does: 'Lists what was sent to a webhook.', person: 'signed-in', automation: 'webhooks:manage' },
  'add-webhook': { does: 'Adds a webhook.', person: 'signed-in', automation: 'webhooks:manage' },
  'remove-webhook': { does: 'Removes a webhook.', person: 'signed-in', automation: 'webhooks:manage' },
  'pause-webhook': { does: 'Stops sending to a webhook.', person: 'signed-in', automation: 'webhooks:manage' },
  'resume-webhook': { does: 'Sends to a webhook again.', person: 'signed-in', automation: 'webhooks:manage' },
  'test-webhook': { does: 'Sends a test to a webhook.', person: 'signed-in', automation: 'webhooks:manage' },
  'replay-deliveries': {
    does: 'Sends to a webhook again what it was sent.',
    person: 'signed-in',
    automation: 'webhooks:manage',
  },
  'roll-webhook-secret': { does: 'Gives a webhook a new secret.', person: 'signed-in', automation: 'webhooks:manage' },
} as const satisfies Readonly<Record<string, ActionRule>>;

/** The name of an action: what a route declares. */
export type Action = keyof typeof rules;

/**
 * Who may do what: the only place that says so, for both APIs. Each route declares one of these actions, and a guard asks this table;
 * what is not written here is forbidden (O3, O29).
 */
export const ACTIONS: Readonly<Record<Action, ActionRule>> = rules;
