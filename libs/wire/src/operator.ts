/** What people's tools and the plane say to each other: JSON over HTTPS under `/v1`, with `Authorization: Bearer rco_…`. */

/** `POST /v1/sessions`: a one-time sign-in link becomes a session. The secret is answered once and stored as a hash. */
export type SignInRequest = { readonly link: string };
export type SignInAnswer = {
  readonly session: string;
  readonly expiresAt: string;
  readonly person: { readonly id: string; readonly name: string };
};

/** `POST /v1/enrolment-tokens`: the CLI made the secret, the plane registers its hash (plane, section 1, Secrets). */
export type IssueTokenRequest = {
  /** UUID, made by the caller and kept over retries. */
  readonly commandId: string;
  /** SHA-256 of the token's secret part, hex. */
  readonly tokenHash: string;
  readonly name?: string | null;
  /**
   * A machine of the node that is to get its next one, as a person calls it: its id, the first 8 or more characters of it, or its exact name.
   * The node's machine that lives, if there is one, is deleted in the same append (N19). (Default: null, a node not seen before)
   */
  readonly node?: string | null;
  /** Seconds; 60 to 86,400. (Default: 900) */
  readonly expiresIn?: number;
};
export type IssueTokenAnswer = {
  readonly token: { readonly id: string; readonly expiresAt: string; readonly name: string | null };
  /** The id of the newest machine of the node, deleted by now; null for a node not seen before. */
  readonly replaces: string | null;
  /** Where machines reach the plane, and the pins they should expect; together with the secret they make the token string. */
  readonly machineApi: string;
  readonly pins: readonly string[];
};

/**
 * `POST /v1/preadmissions`: the CLI made the credential of a machine to come, and hands it to that machine itself; the plane registers its hash.
 * Whoever presents the credential is admitted with it, once. The rest as for a token.
 */
export type PreadmitRequest = Omit<IssueTokenRequest, 'tokenHash'> & {
  /** SHA-256 of the credential, hex. */
  readonly credentialHash: string;
};
export type PreadmitAnswer = Omit<IssueTokenAnswer, 'token'> & { readonly preadmission: IssueTokenAnswer['token'] };

/** A token, or the hash of a credential, that can still be used. Times are RFC 3339 in UTC; nothing of the secret is in it. */
export type OpenTokenView = {
  readonly id: string;
  readonly kind: 'token' | 'preadmission';
  /** For the machine that joins; null: it names itself. */
  readonly name: string | null;
  /** The newest machine of the node that gets its next one; null: a node not seen before. */
  readonly node: { readonly machine: string; readonly name: string | null } | null;
  readonly issuedAt: string;
  readonly expiresAt: string;
};
/** `GET /v1/enrolment-tokens`: the oldest first. */
export type OpenTokenList = { readonly tokens: readonly OpenTokenView[] };
/** `DELETE /v1/enrolment-tokens/:token`: also one that is over, or was withdrawn before. */
export type WithdrawTokenRequest = { readonly commandId: string };

/** `POST /v1/people`: the first person lets somebody use the plane, with a link whose secret (`rcl_…`) the CLI made. */
export type AddPersonRequest = {
  /** UUID, made by the caller and kept over retries; the id of the person. */
  readonly commandId: string;
  readonly name: string;
  /** SHA-256 of the link's secret, hex. It can be used once, within an hour. */
  readonly linkHash: string;
};
/** `POST /v1/people/:person/sign-in-links`: another link for somebody who was added. */
export type IssueSignInLinkRequest = Pick<AddPersonRequest, 'commandId' | 'linkHash'>;
export type PersonView = { readonly id: string; readonly name: string };
export type PersonAnswer = { readonly person: PersonView };
/** `DELETE /v1/people/:person` */
export type RemovePersonRequest = Pick<AddPersonRequest, 'commandId'>;
/** `GET /v1/people`: the caller, those whom the caller has added, and those of them who were removed. */
export type PersonList = { readonly people: readonly (PersonView & { readonly removed: boolean })[] };

/** `POST /v1/workspaces`: the id of the workspace is the command's. */
export type CreateWorkspaceRequest = { readonly commandId: string; readonly name: string };
export type WorkspaceSummary = { readonly id: string; readonly name: string; readonly isOwner: boolean };
/** `GET /v1/workspaces` */
export type WorkspaceList = { readonly workspaces: readonly WorkspaceSummary[] };
/** A directory that is bound to a workspace, and of its node no more than whether there is a machine now. */
export type BindingView = {
  readonly node: string;
  readonly directory: string;
  readonly machine: { readonly id: string; readonly name: string | null; readonly presence: PresenceWord } | null;
};
/** `GET /v1/workspaces/:workspace` */
export type WorkspaceView = {
  readonly workspace: WorkspaceSummary;
  readonly owner: PersonView;
  /** Without the owner. */
  readonly members: readonly PersonView[];
  readonly bindings: readonly BindingView[];
};
/** `PUT` and `DELETE /v1/workspaces/:workspace/members` */
export type WorkspaceMemberRequest = { readonly commandId: string; readonly person: string };
/** `DELETE /v1/workspaces/:workspace/membership`: whoever asks leaves it. */
export type LeaveWorkspaceRequest = { readonly commandId: string };
/** `PUT` and `DELETE /v1/workspaces/:workspace/bindings`; the machine as its owner calls it, the directory absolute. */
export type WorkspaceBindingRequest = {
  readonly commandId: string;
  readonly machine: string;
  readonly directory: string;
};
export type WorkspaceAnswer = { readonly workspace: WorkspaceSummary };

/** `POST /v1/automation-tokens`: the CLI made the secret (`rca_…`), the plane registers its hash. */
export type IssueAutomationTokenRequest = {
  /** UUID, made by the caller and kept over retries; the id of the token. */
  readonly commandId: string;
  /** SHA-256 of the whole token, hex. */
  readonly tokenHash: string;
  readonly name: string;
  /** At least one of `SCOPES` in `@rollcall/authorisation`. */
  readonly scopes: readonly string[];
  /** Seconds; 60 to 7,776,000. */
  readonly expiresIn: number;
};
/** A token that a program can use. Times are RFC 3339 in UTC. */
export type AutomationTokenView = {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly issuedAt: string;
  readonly expiresAt: string;
};
export type AutomationTokenAnswer = { readonly token: AutomationTokenView };
/** `GET /v1/automation-tokens`: those that can be used, the oldest first. */
export type AutomationTokenList = { readonly tokens: readonly AutomationTokenView[] };
/** `DELETE /v1/automation-tokens/:token` */
export type RevokeAutomationTokenRequest = { readonly commandId: string };

/** Whether it is here, by the time since its last check (O22). */
export type PresenceWord = 'not-yet-arrived' | 'present' | 'absent';
/** What it said last, and whether it has kept checking (O23). */
export type LifecycleWord = 'running' | 'unknown' | 'stopping' | 'stopped' | 'deleted';

/** A person's word that a machine gets no work. Times are RFC 3339 in UTC; `until` is null where nothing but a person ends it. */
export type PauseView = {
  readonly since: string;
  readonly until: string | null;
  readonly note: string;
  readonly by: string;
};

/** One machine as every surface shows it. Times are RFC 3339 in UTC. */
export type MachineView = {
  readonly id: string;
  readonly name: string | null;
  readonly hostname: string | null;
  readonly presence: PresenceWord;
  readonly lastCheckAt: string | null;
  /** null until the first check. */
  readonly lifecycle: LifecycleWord | null;
  readonly stopReason: StopReason | null;
  readonly blockers: readonly BlockerView[];
  /** It is present, runs, and nothing blocks work: what the plane makes of the three answers, never the machine's word (O21). */
  readonly canTakeWork: boolean;
  /** "present, but cannot take work: …" and its like; one sentence for a person (O32). */
  readonly sentence: string;
  /** What it was asked for and has not answered: the stamps of the requests for the tail of its log (O26), and for a newer credential (O19, N26). */
  readonly requests: { readonly logTail: string | null; readonly rotation: string | null };
  /** The next generation of its credential, registered and not used yet: it counts from its first use (N26). null: none. */
  readonly pendingGeneration: number | null;
  /** What was refused to others that claimed to be this installation; null: nothing (C03). */
  readonly refusedClaims: RefusedClaimsView | null;
  /** Since when it is absent; null while it is heard from, and for the moment between the line and its record. */
  readonly absentSince: string | null;
  /** The pause that is in force: a person's word, which stands among the blockers as well. `by` is a person's id. */
  readonly pause: PauseView | null;
  /** What is attached to it, by key. */
  readonly labels: { readonly [key: string]: string };
  readonly agentVersion: string | null;
  readonly platform: string | null;
  readonly owner: string;
  readonly generation: number | null;
  /** Seconds of silence after which it counts as absent. */
  readonly window: number | null;
  readonly admittedAt: string;
  readonly deletedAt: string | null;
  /** Newest fact about it; the order of facts, never a time. */
  readonly revision: number;
};
/** Refused claims on a machine's identifier, as one; of many within a minute one is counted. Times are RFC 3339 in UTC. */
export type RefusedClaimsView = {
  readonly count: number;
  readonly first: string;
  readonly last: string;
  /** What the last of them called itself, which proves nothing. */
  readonly hostname: string | null;
};
type StopReason = 'person' | 'update' | 'restart' | 'handoff' | 'signal' | 'revocation';
export type BlockerView = {
  readonly code: string;
  readonly since: string;
  /** What it means. */
  readonly sentence: string;
  /** Who can fix it. */
  readonly fix: string;
  /** Whether the machine gets no work while it stands. */
  readonly blocksWork: boolean;
};

/** Every answer from a read model says how far the read model has come. */
export type AsOf = {
  /** Until when the plane was heard to listen, as far as that was applied; null before the first check or mark. */
  readonly asOf: string | null;
  /** True when that is older than 15 s (by the record's own head), so an old truth is not taken for a new one. */
  readonly behind: boolean;
};
export type MachineList = AsOf & {
  readonly machines: readonly MachineView[];
  /** Opaque; null on the last page. */ readonly next: string | null;
};
export type MachineDetail = AsOf & {
  readonly machine: MachineView;
  /**
   * The newest refused use of an older credential since the one that counts was registered; null: none. If whoever holds that is the right installation, another
   * one has rotated in its place (B2).
   */
  readonly olderUse: OlderUseView | null;
  /** What was promised of its node; null where nobody promised anything (N11). */
  readonly promise: PromisedPresence | null;
};
/** `generation`: null where it is older than the plane remembers by number. `at` is RFC 3339 in UTC; of many within an hour the first is told. */
export type OlderUseView = { readonly generation: number | null; readonly at: string };
/** What counts of what was promised of a node, and whether it is kept, as of the answer (N11). */
export type PromisedPresence = {
  /** Its own promise, or those of its labels; presence is promised where any of them promises it. */
  readonly promises: readonly { readonly selector: string; readonly schedule: string }[];
  /** `held`: promised, and it is present; `broken`: promised, and it is not; `not-now`: nothing is promised at present. */
  readonly state: 'held' | 'broken' | 'not-now';
  /** When promised time begins next; null while it lasts, and where it never does. */
  readonly next: string | null;
};

/** A blocker of the catalogue, or a code that this plane does not know, over all machines of the asker (O21). */
export type BlockerSummary = Omit<BlockerView, 'since'> & {
  /** False for a code that came from a newer agent: it is shown as such, and blocks work. */
  readonly known: boolean;
  /** What on the machine the finding rests on. */
  readonly dependsOn: string;
  /** Seconds from the cause to the plane's knowing, at most, on a machine that is present. */
  readonly visibleWithin: number;
  /** On how many machines it stands now, present or not. */
  readonly machines: number;
  /** Since when on the first of them; null where it stands on none. */
  readonly since: string | null;
  /** For how long it has stood on all of them together, up to the time of the answer; whole seconds. */
  readonly seconds: number;
};
/** `GET /v1/blockers`: in the order of the catalogue, then what is not known by code. */
export type BlockerList = AsOf & { readonly blockers: readonly BlockerSummary[] };
/** A time in which a blocker stood on one machine. */
export type EpisodeView = BlockerView & {
  /** null while it stands. A deleted machine has none that stands. */
  readonly until: string | null;
  /** Whole seconds, up to its end or, while it stands, to the time of the answer. */
  readonly seconds: number;
};
/** `GET /v1/machines/:id/readiness`: the newest first. */
export type Readiness = AsOf & {
  readonly machine: { readonly id: string };
  readonly episodes: readonly EpisodeView[];
  /** Opaque; null on the last page. */
  readonly next: string | null;
};

/** A fact that an answer rests on, or a time that nobody observed. */
export type WhyBasis =
  | { readonly kind: 'event'; readonly at: string; readonly revision: number; readonly type: string }
  | { readonly kind: 'check'; readonly at: string; readonly revision: number; readonly said: 'running' | 'stopping' }
  | { readonly kind: 'not-observed'; readonly at: string; readonly until: string };
/**
 * `GET /v1/machines/:id/why?at=`: the machine as it was at a time (RFC 3339; left out: now, as far as the plane has heard), why it was so, and
 * the newest facts that that rests on, the oldest first. `asOf` is the newest time until then that something was recorded (B5).
 */
export type Why = AsOf & {
  readonly machine: MachineView;
  /** Without its subject. */
  readonly sentence: string;
  readonly basis: readonly WhyBasis[];
};

/** One line of a machine's history: a ledger event, a run of checks without anything between them, or a time that nobody observed. */
export type HistoryEntry =
  | {
      readonly kind: 'event';
      readonly revision: number;
      readonly at: string;
      readonly type: string;
      readonly actor: { readonly kind: string; readonly id: string };
      readonly body: { readonly [key: string]: unknown };
      readonly sentence: string;
    }
  | {
      readonly kind: 'checks';
      /** Revision of the first check of the run. */
      readonly revision: number;
      readonly at: string;
      readonly until: string;
      readonly count: number;
      readonly said: 'running' | 'stopping';
      /** Which one was presented; only in a replay, where a run ends with its generation. */
      readonly generation?: number;
      /** Set where the run has begun on the page before: the two are one. */
      readonly continues?: boolean;
      readonly sentence: string;
    }
  | {
      /** A use of a credential that does not act any more; of those that follow the first, one an hour at most (B7). */
      readonly kind: 'refused';
      readonly at: string;
      readonly code: string;
      /** null: too old to be known but by its hash. */
      readonly generation: number | null;
      readonly keyHash: string;
      readonly lastAcceptedAt: string | null;
      readonly sentence: string;
    }
  | { readonly kind: 'not-observed'; readonly at: string; readonly until: string; readonly sentence: string };
export type History = AsOf & {
  readonly machine: { readonly id: string; readonly name: string | null };
  readonly entries: readonly HistoryEntry[];
};

/**
 * `GET /v1/machines/:id/history?after=`: one page of the whole past of a machine, from the record and oldest first (U4). `after` is `start`, or the
 * `next` of the page before; `from` and `to` (RFC 3339, both within) bound it. `asOf` says how far the times are known in which nobody listened.
 */
export type HistoryPage = History & {
  /** null: this was the last page. */
  readonly next: string | null;
  /** How far this has come, of how many facts. */
  readonly facts: { readonly through: number; readonly recorded: number };
};

/** `GET /v1/me`: whose session it is. */
export type MeAnswer = { readonly person: { readonly id: string; readonly name: string }; readonly expiresAt: string };

/** `PATCH /v1/machines/:id`. `commandId` is a UUID, made by the caller and kept over retries; `name` has 1 to 64 characters. */
export type RenameRequest = { readonly commandId: string; readonly name: string };
/** What was decided; read models show it a moment later. */
export type RenameAnswer = { readonly machine: { readonly id: string; readonly name: string } };
/** `DELETE /v1/machines/:id`. */
export type DeleteRequest = { readonly commandId: string };
/** What was decided; a repetition is answered alike. */
export type DeleteAnswer = {
  readonly machine: { readonly id: string; readonly name: string | null; readonly lifecycle: 'deleted' };
};
/**
 * `POST /v1/machines/:id/pause`: the machine gets no work until somebody takes it back, or until a time, or for so many seconds (60 to
 * 31,536,000); not both. The note has 1 to 200 characters. `commandId` as for a rename.
 */
export type PauseRequest = {
  readonly commandId: string;
  readonly note: string;
  /** RFC 3339. */
  readonly until?: string | null;
  readonly for?: number | null;
};
/** `DELETE /v1/machines/:id/pause`. */
export type ResumeRequest = { readonly commandId: string };
/** What was decided: the pause that is in force, or none. */
export type PauseAnswer = {
  readonly machine: {
    readonly id: string;
    readonly pause: { readonly note: string; readonly until: string | null } | null;
  };
};
/**
 * `PATCH /v1/machines/:id/labels`: these are set, and the keys in `remove` taken away; the others stay. A key has 1 to 63 lower-case letters,
 * digits, `-`, `.`, `_` and `/`; a value 1 to 63 characters; a machine at most 32 labels. `commandId` as for a rename.
 */
export type LabelRequest = {
  readonly commandId: string;
  readonly set?: { readonly [key: string]: string };
  readonly remove?: readonly string[];
};
/** All labels after the decision. */
export type LabelAnswer = {
  readonly machine: { readonly id: string; readonly labels: { readonly [key: string]: string } };
};
/**
 * `PUT /v1/promises`: a machine's node, or every node with a label (`key=value`), is promised to be there by a schedule: `always`, `none`, or days,
 * a window and a time zone, such as `weekdays 09:00-18:00 Europe/Berlin`. One of `machine` and `label`. `commandId` as for a rename.
 */
export type PromiseRequest = WithdrawRequest & { readonly schedule: string };
/** `DELETE /v1/promises`: nothing is promised for it any more. */
export type WithdrawRequest = { readonly commandId: string; readonly machine?: string; readonly label?: string };
/** What was decided; `schedule` is null where nothing is promised for the selector. */
export type PromiseAnswer = { readonly promise: { readonly selector: string; readonly schedule: string | null } };
/** `GET /v1/promises`: by selector. */
export type PromiseList = {
  readonly promises: readonly {
    /** `node:<id of a node>` or `label:<key>=<value>` */
    readonly selector: string;
    readonly schedule: string;
    /** The machine of the node; null for a label, and for a node without a machine that lives. */
    readonly machine: { readonly id: string; readonly name: string | null } | null;
    readonly promisedNow: boolean;
  }[];
};
/** `POST /v1/machines/:id/log-tail-requests`. `commandId` as for a rename. */
export type LogTailRequestBody = { readonly commandId: string };
/** The stamp that the request goes by until the machine's upload echoes it; however long that takes (O26). */
export type LogTailRequestAnswer = { readonly machine: { readonly id: string }; readonly logTail: string };
/** `POST /v1/machines/:id/rotation-requests`. `commandId` as for a rename. */
export type RotationRequestBody = { readonly commandId: string };
/** The stamp that the request goes by until a newer credential has succeeded; null where one has by now (O19). */
export type RotationRequestAnswer = { readonly machine: { readonly id: string }; readonly rotation: string | null };
/** `GET /v1/machines/:id/log-tail`. */
export type LogTailView = {
  readonly machine: { readonly id: string; readonly name: string | null };
  /** The stamp of the request that waits; null: none. */
  readonly requested: string | null;
  /** The newest upload; null: there was none. `log` is text from the machine, with replacements where its bytes were no UTF-8. */
  readonly tail: { readonly stamp: string; readonly receivedAt: string; readonly log: string } | null;
};
/** `POST /v1/read-models/:name/rebuild`: asked for; `GET /v1/read-models` shows when it is done. */
export type RebuildAnswer = { readonly name: string; readonly rebuilding: true };

/** How far a read model has followed the record. Numbers of batches are decimal texts: they may exceed 2^53. */
export type ReadModelStatus = {
  readonly name: string;
  readonly checkpoint: string;
  readonly newest: string;
  readonly lagBatches: string;
  readonly heardUntil: string | null;
  readonly epochMatches: boolean;
  readonly parked: number;
  readonly rebuilding: boolean;
};
/** `GET /v1/read-models`. */
export type ReadModelList = { readonly readModels: readonly ReadModelStatus[] };

/** What a webhook can be told; `webhook.test` is sent to whoever asks for it. docs/webhooks.md says what each carries. */
export type WebhookEvent =
  | 'machine.absent'
  | 'machine.stopped'
  | 'machine.returned'
  | 'machine.blocked'
  | 'machine.admitted'
  | 'machine.deleted'
  | 'credential.rotated'
  | 'credential.refused'
  | 'fleet.silence';
/** `POST /v1/webhooks`. The command's id becomes the webhook's. */
export type AddWebhookRequest = {
  readonly commandId: string;
  /** https; at most 2,000 characters. */
  readonly url: string;
  /** One or more. */
  readonly events: readonly WebhookEvent[];
  /** Of silences, only those that break a promise (N11). (Default: false) */
  readonly promisedOnly?: boolean;
};
/** The secret is answered here and never again. A repetition is answered with another one, and for 24 hours both are valid. */
export type AddWebhookAnswer = {
  readonly webhook: {
    readonly id: string;
    readonly host: string;
    readonly events: readonly WebhookEvent[];
    readonly promisedOnly: boolean;
  };
  /** `whsec_` and the base64 of 32 bytes, as Standard Webhooks has it. */
  readonly secret: string;
};
/** The body of what is asked of a webhook: `DELETE /v1/webhooks/:id`, and `POST` to its `test`, `secret`, `pause` and `resume`. */
export type WebhookCommandRequest = { readonly commandId: string };
/** What was decided about it. */
export type WebhookAnswer = {
  readonly webhook: { readonly id: string; readonly paused: boolean; readonly removed: boolean };
};
/** `POST /v1/webhooks/:id/secret`: as for {@link AddWebhookAnswer}. The secret before is valid for 24 hours more. */
export type RollWebhookSecretAnswer = { readonly webhook: { readonly id: string }; readonly secret: string };
/** `POST /v1/webhooks/:id/replay`: one delivery by its event, or those of a time (RFC 3339; `to` not included). */
export type ReplayWebhookRequest = {
  readonly commandId: string;
  readonly eventId?: string;
  readonly from?: string;
  readonly to?: string;
  /** Only these types. (Default: all) */
  readonly types?: readonly string[];
};

/** One webhook. What it has to do with its receiver is as of the answer's own time. */
export type WebhookView = {
  readonly id: string;
  /** The host of its address; the rest is shown to nobody. */
  readonly host: string;
  readonly events: readonly WebhookEvent[];
  readonly promisedOnly: boolean;
  readonly createdAt: string;
  /** `failing`: its last attempts failed, and it is tried now and then; `gone`: it answered 410; null: it is sent to. */
  readonly paused: { readonly reason: 'person' | 'failing' | 'gone'; readonly since: string } | null;
  /** Attempts that failed in a row, and since when. */
  readonly failures: number;
  readonly failingSince: string | null;
  /** Deliveries that are still to be made. */
  readonly waiting: number;
};
/** `GET /v1/webhooks`: the oldest first. */
export type WebhookList = AsOf & {
  readonly webhooks: readonly WebhookView[];
  /** Why nothing can be sent at all, in one sentence for whoever runs the plane; null: it can. */
  readonly problem: string | null;
};

/** What became of a notice to one webhook. */
export type WebhookDeliveryView = {
  /** The id of the event: the receiver's `webhook-id`. */
  readonly id: string;
  readonly type: string;
  /** null: it is about no single machine. */
  readonly machine: string | null;
  readonly sequence: number;
  readonly occurredAt: string;
  /** `failed`: it was tried for three days, or the webhook is no more. */
  readonly state: 'waiting' | 'delivered' | 'failed';
  readonly attempts: number;
  readonly lastAttemptAt: string | null;
  /** The receiver's HTTP status; null: it did not come to that. */
  readonly lastStatus: number | null;
  /** One word of a closed list, such as `timeout`. */
  readonly lastOutcome: string | null;
  readonly nextAttemptAt: string | null;
  readonly deliveredAt: string | null;
};
/** `GET /v1/webhooks/:id/deliveries`: the newest first. */
export type WebhookDeliveryList = {
  readonly deliveries: readonly WebhookDeliveryView[];
  /** Opaque; null on the last page. */
  readonly next: string | null;
};

/** What a session began by. */
export const SESSION_ORIGINS = ['link', 'code', 'account'] as const;
export type SessionView = {
  readonly id: string;
  /** Whether it is the one that asks. */
  readonly current: boolean;
  readonly by: (typeof SESSION_ORIGINS)[number];
  /** What a program that signed in by a code said of itself: display, and no proof. */
  readonly device: string | null;
  readonly expiresAt: string;
};
/** `GET /v1/sessions`: the caller's, the oldest first. */
export type SessionList = { readonly sessions: readonly SessionView[] };

/** `GET /v1/provider`: where people can sign in beside links; null: nowhere. */
export type ProviderAnswer = { readonly provider: { readonly name: string } | null };

/** `POST /v1/provider/sign-in`, `POST /v1/accounts/link`: where the browser is to go now. */
export type ProviderSignInRequest = {
  /** The path of our page to come back to. (Default: /) */
  readonly returnTo?: string;
};
export type ProviderRedirect = { readonly location: string };

/** `GET /v1/accounts`: the accounts at identity providers that are linked to the caller. */
export type AccountList = {
  readonly accounts: readonly { readonly id: string; readonly provider: string; readonly linkedAt: string }[];
};

/** `POST /v1/device-authorization`, a form or JSON with the names of RFC 8628: a program without a browser wants to sign in. */
export type DeviceAuthorizationRequest = {
  /** Which program it claims to be. */
  readonly client_id: string;
  /** What the computer calls itself, and what it runs on: display, and no proof. */
  readonly device_name?: string;
  readonly device_platform?: string;
};
export type DeviceAuthorizationAnswer = {
  /** `rcd_…` */
  readonly device_code: string;
  /** `WDJB-MJHT` */
  readonly user_code: string;
  /** Where a person types it. No address has it filled in. */
  readonly verification_uri: string;
  /** Seconds. */
  readonly expires_in: number;
  /** Seconds between two questions; 5 more after each `slow_down`. */
  readonly interval: number;
};

/** The grant of RFC 8628. */
export const DEVICE_CODE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

/** `POST /v1/token`, a form or JSON: whether a person has let it sign in. The session is answered once. */
export type TokenRequest = { readonly grant_type: string; readonly device_code: string; readonly client_id: string };
export type TokenAnswer = {
  /** `rco_…` */
  readonly access_token: string;
  readonly token_type: 'Bearer';
  /** Seconds. */
  readonly expires_in: number;
  readonly expires_at: string;
  readonly person: { readonly id: string; readonly name: string };
};

/** What these two routes refuse with, by the names of RFC 6749 and RFC 8628. */
export const OAUTH_ERRORS = {
  authorization_pending: 'No person has answered yet.',
  slow_down: 'This was asked too soon; wait 5 seconds more from now on.',
  access_denied: 'A person has refused this.',
  expired_token: 'This code is over, was used, or never was.',
  invalid_request: 'A field is missing or not valid.',
  unsupported_grant_type: 'Only the grant for device codes is known here.',
  temporarily_unavailable: 'Not now; try again later.',
} as const;
export type OauthErrorCode = keyof typeof OAUTH_ERRORS;
export type OauthErrorAnswer = { readonly error: OauthErrorCode; readonly error_description: string };

/** A login that waits for a person's answer, with what its program claims to be: display, and no proof. */
export type WaitingLogin = {
  /** `WDJB-MJHT` */
  readonly code: string;
  readonly expiresAt: string;
  readonly claims: { readonly client: string | null; readonly device: string | null; readonly platform: string | null };
};

/** What a person's answer to a login came to. */
export type AnsweredLogin = { readonly code: string; readonly answer: 'approved' | 'refused' };

/** A short code that waits for a person's answer, with what its installation claims to be: display, and no proof (O12). */
export type WaitingCode = {
  /** `WDJB-MJHT` */
  readonly code: string;
  readonly expiresAt: string;
  readonly claims: {
    readonly hostname: string | null;
    readonly agentVersion: string | null;
    readonly platform: string | null;
    readonly arch: string | null;
  };
};

/** `POST /v1/codes/look-up` */
export type LookUpCodeRequest = { readonly code: string };

/** `POST /v1/codes/approve` */
export type ApproveCodeRequest = {
  readonly commandId: string;
  readonly code: string;
  readonly name?: string | null;
  /** As for a token: a machine of the node that is to get its next one. The one that lives is deleted in the same append (N19). */
  readonly node?: string | null;
};

/** `POST /v1/codes/refuse` */
export type RefuseCodeRequest = { readonly commandId: string; readonly code: string };

/** What a person's answer came to. */
export type AnsweredCode = {
  readonly code: string;
  readonly answer: 'approved' | 'refused';
  /** The newest machine of the node, deleted by now; null for a node not seen before, and for a refusal. */
  readonly replaces: string | null;
};
