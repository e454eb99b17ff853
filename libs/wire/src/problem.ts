/**
 * The closed list of refusals. The code in a problem document (RFC 9457) is the only thing that a client acts on; the status is for
 * proxies and people.
 */
export const PROBLEMS = {
  // what a machine is told about its credential (O20)
  'generation-behind': { status: 401, title: 'A newer generation of this credential is in use' },
  'credential-unknown': { status: 401, title: 'Nobody registered this credential here' },
  'credential-revoked': { status: 410, title: 'This machine was deleted' },
  // rotations
  'hash-registered-before': { status: 409, title: 'This credential was registered before; make a new one' },
  'duplicate-installation': {
    status: 409,
    title:
      'A copy of this installation checks in as well: run "rollcall-agent rotate" on the right one, or delete the machine',
  },
  // checks
  'stale-check': { status: 409, title: 'A newer check of this machine is recorded' },
  // requests of the plane
  'request-not-pending': { status: 409, title: 'The plane does not wait for this upload' },
  // enrolment: one common refusal for expired, used, refused and unknown tokens
  'token-refused': { status: 403, title: 'This enrolment token cannot be used' },
  'token-not-found': { status: 404, title: 'No such enrolment token' },
  'already-admitted': { status: 409, title: 'It has admitted a machine already; delete that one' },
  'identifier-in-use': { status: 409, title: 'This installation is already admitted; delete its machine first' },
  // short codes: one common refusal for expired, used, refused and unknown ones
  'code-refused': { status: 400, title: 'This code cannot be used' },
  'access-denied': { status: 400, title: 'A person has refused this' },
  'asked-too-soon': { status: 400, title: 'This was asked again too soon' },
  'code-pending': { status: 400, title: 'No person has answered for this code yet' },
  'too-many-wrong-codes': { status: 429, title: 'Too many wrong codes were typed in this session' },
  // people
  'not-signed-in': { status: 401, title: 'Sign in first' },
  'session-not-fresh': { status: 403, title: 'Only a session that began a short time ago may do this' },
  'scope-missing': { status: 403, title: 'This automation token was not made for that' },
  'actor-refused': { status: 403, title: 'Only a person may do this' },
  'automation-token-not-found': { status: 404, title: 'No such automation token' },
  'too-many-automation-tokens': { status: 422, title: 'A person can have no more automation tokens than that' },
  'cross-site': { status: 403, title: 'A browser may ask for this from our own page only' },
  'not-the-first-person': { status: 403, title: 'Only the first person of this plane may do this' },
  'too-many-people': { status: 422, title: 'A plane can have no more people than that' },
  'person-not-found': { status: 404, title: 'No such person' },
  'first-person-stays': { status: 409, title: 'The first person of this plane stays' },
  'machines-left': { status: 409, title: 'They own machines that live, which nobody else could delete' },
  'workspace-not-found': { status: 404, title: 'No such workspace' },
  'owner-stays': { status: 409, title: 'The owner of a workspace belongs to it as long as it is there' },
  'workspace-full': { status: 422, title: 'There is no room for more than that' },
  'link-refused': { status: 403, title: 'This sign-in link cannot be used' },
  // accounts at an identity provider
  'account-refused': { status: 403, title: 'Nobody on this plane is linked to this account' },
  'account-taken': { status: 409, title: 'This account is linked to somebody already' },
  'session-not-found': { status: 404, title: 'No such session' },
  'account-not-found': { status: 404, title: 'No such account' },
  'too-many-accounts': { status: 422, title: 'A person can have no more accounts than that' },
  'provider-refused': { status: 400, title: 'This sign-in at the identity provider cannot be used' },
  'provider-away': { status: 503, title: 'The identity provider does not answer' },
  'machine-not-found': { status: 404, title: 'No such machine' },
  'name-ambiguous': { status: 409, title: 'Several machines match' },
  'pause-already-over': { status: 422, title: 'That time has passed already' },
  'too-many-labels': { status: 422, title: 'A machine has no room for that many labels' },
  'too-many-promises': { status: 422, title: 'A person can make no more promises than that' },
  'time-not-recorded': { status: 422, title: 'The record has not come to that time' },
  'not-admitted-then': { status: 422, title: 'The machine was not admitted at that time' },
  'read-model-not-found': { status: 404, title: 'No such read model' },
  'webhook-not-found': { status: 404, title: 'No such webhook' },
  'webhook-delivery-not-found': { status: 404, title: 'Nothing like that was sent to this webhook' },
  'webhook-target-refused': { status: 422, title: 'Nothing is sent to this address' },
  'webhook-key-missing': { status: 503, title: 'The plane has no key to keep the secrets of webhooks with' },
  // requests
  'invalid-body': { status: 422, title: 'The body is not valid' },
  'malformed-body': { status: 400, title: 'The body is not JSON' },
  'too-large': { status: 413, title: 'The body is too large' },
  'unsupported-type': { status: 415, title: 'The body must be application/json without a content encoding' },
  'not-found': { status: 404, title: 'There is nothing here' },
  'method-not-allowed': { status: 405, title: 'This method is not allowed here' },
  'headers-too-large': { status: 431, title: 'The headers are too large' },
  'bad-request': { status: 400, title: 'The request cannot be read' },
  // load and faults
  'slow-down': { status: 429, title: 'Too many requests' },
  unavailable: { status: 503, title: 'The plane cannot record this right now' },
  internal: { status: 500, title: 'The plane failed' },
} as const satisfies Record<string, { status: number; title: string }>;

/** A code of the closed list. */
export type ProblemCode = keyof typeof PROBLEMS;

/** Whether a value is one of our codes: whoever reads an answer acts on nothing else. */
export const isProblemCode = (value: unknown): value is ProblemCode =>
  typeof value === 'string' && Object.hasOwn(PROBLEMS, value);

/** What `type` of a problem document begins with; the code follows (RFC 9457). */
export const PROBLEM_TYPE_PREFIX = 'urn:rollcall:problem:';
/** The media type of every error answer; a body of any other type is not ours and changes nothing. */
export const PROBLEM_MEDIA_TYPE = 'application/problem+json';

/** An RFC 9457 problem document. Members beyond `detail` are extensions of single codes. */
export type Problem = {
  /** `urn:rollcall:problem:<code>` */
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: ProblemCode;
  /** One sentence for a person. */
  readonly detail?: string;
  /** The fields that `invalid-body` is about, each with what is wrong with it. */
  readonly errors?: readonly { readonly field: string; readonly message: string }[];
  /** `stale-check`: the highest boot counter that the plane has seen of this machine. */
  readonly highestBoot?: number;
  /** `name-ambiguous`: the machines that match, at most ten. */
  readonly candidates?: readonly { readonly id: string; readonly name: string | null }[];
  /** `webhook-target-refused`: what is wrong with it, a word of a closed list (`TargetProblem` in libs/webhooks). */
  readonly reason?: string;
  /** The request's id, as in the plane's logs. */
  readonly requestId?: string;
};
