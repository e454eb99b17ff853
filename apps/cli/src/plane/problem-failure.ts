import type { Problem, ProblemCode } from '@rollcall/wire';
import { isProblemCode } from '@rollcall/wire';
import { EXIT, Failure, type ExitCode } from '../failure.js';
import type { TransportAnswer } from './transport.js';

/** A refusal or fault of the plane, told by its code. */
export class Refused extends Failure {
  constructor(
    readonly code: ProblemCode,
    sentence: string,
    exitCode: ExitCode,
    /** Set where the same request may succeed after a while. */
    readonly retryAfterMs?: number,
  ) {
    super(sentence, exitCode);
  }
}

const isProblem = (body: unknown): body is Problem =>
  typeof body === 'object' && body !== null && 'code' in body && isProblemCode(body.code);

type Telling = { readonly exitCode: ExitCode; readonly sentence: (problem: Problem) => string; readonly passes?: true };

const busy: Telling = {
  exitCode: EXIT.failed,
  sentence: ({ detail, title }) => `${detail ?? title}; try again in a moment.`,
  passes: true,
};

const candidates = (problem: Problem): string =>
  (problem.candidates ?? []).map(({ id, name }) => `${id} (${name ?? 'unnamed'})`).join(', ');

const fields = ({ errors = [], detail, title }: Problem): string =>
  errors.map(({ field, message }) => (message.startsWith(field) ? message : `${field} ${message}`)).join('; ') ||
  (detail ?? title);

/** What is wrong with an address for webhooks, after a colon. */
const TARGET_PROBLEMS: Readonly<Record<string, string>> = {
  'not-a-url': 'it is no https URL',
  'not-encrypted': 'it must begin with https',
  'has-credentials': 'it must not carry a user or a password',
  'port-not-allowed': 'only the ports 443 and 8443 are open, unless whoever runs the plane allows it',
  'address-not-allowed':
    'its host has a private or reserved address, which whoever runs the plane would have to allow (ROLLCALL_WEBHOOK_ALLOW)',
  'not-resolved': 'the plane does not find its host',
};

/** What people are told of the refusals that they meet; the rest is told in the plane's own words. */
const TELLINGS: Partial<Record<ProblemCode, Telling>> = {
  'not-signed-in': {
    exitCode: EXIT.notSignedIn,
    sentence: () => 'You are not signed in, or the session has ended: run `rollcall login`.',
  },
  'session-not-fresh': {
    exitCode: EXIT.notSignedIn,
    sentence: () =>
      'Your session began too long ago for this: whoever admits or deletes machines has just signed in. Run `rollcall login` again, with a new link or with a browser in which you have just signed in, and say it once more; the first person makes links for others with `rollcall people link`, and gets one with `rollcall-setup sign-in-link`.',
  },
  'workspace-not-found': { exitCode: EXIT.notFound, sentence: () => 'There is no such workspace, or it is not yours.' },
  'person-not-found': {
    exitCode: EXIT.notFound,
    sentence: () =>
      'There is no such person here. `rollcall people` shows everybody their own id, and the first person the ids of those whom they added.',
  },
  'machines-left': {
    exitCode: EXIT.failed,
    sentence: () =>
      'They own machines that live, and nobody else could delete these: they do that first (`rollcall machines delete`), or you do in a session of theirs (`rollcall people link`).',
  },
  'token-not-found': { exitCode: EXIT.notFound, sentence: () => 'There is no such token of yours.' },
  'already-admitted': {
    exitCode: EXIT.failed,
    sentence: () => 'It has admitted a machine already: delete that one with `rollcall machines delete`.',
  },
  'automation-token-not-found': { exitCode: EXIT.notFound, sentence: () => 'There is no such automation token.' },
  'link-refused': {
    exitCode: EXIT.notSignedIn,
    sentence: () => 'This sign-in link cannot be used. A link works once and for a short time; get a new one.',
  },
  'code-refused': {
    exitCode: EXIT.notFound,
    sentence: () =>
      'No installation shows this code and waits: it was mistyped, has been answered, or is over. A code lives ten minutes.',
  },
  'too-many-wrong-codes': {
    exitCode: EXIT.failed,
    sentence: () =>
      'Too many wrong codes were typed in this session: for some minutes none is looked at, right or wrong.',
  },
  'machine-not-found': { exitCode: EXIT.notFound, sentence: () => 'There is no such machine.' },
  'read-model-not-found': { exitCode: EXIT.notFound, sentence: () => 'There is no such read model.' },
  'webhook-not-found': { exitCode: EXIT.notFound, sentence: () => 'There is no such webhook.' },
  'webhook-delivery-not-found': {
    exitCode: EXIT.notFound,
    sentence: () => 'This webhook was not told of such an event; see `rollcall webhooks deliveries`.',
  },
  'webhook-target-refused': {
    exitCode: EXIT.usage,
    sentence: ({ reason = '' }) => `The plane sends nothing to this URL: ${TARGET_PROBLEMS[reason] ?? reason}.`,
  },
  'webhook-key-missing': {
    exitCode: EXIT.failed,
    sentence: () => 'The plane has no key to seal secrets with: whoever runs it sets ROLLCALL_WEBHOOK_KEY_FILE.',
  },
  'name-ambiguous': {
    exitCode: EXIT.failed,
    sentence: (problem) => `Several machines match; name one by its id: ${candidates(problem)}.`,
  },
  'invalid-body': {
    exitCode: EXIT.usage,
    sentence: (problem) => `The plane does not accept this: ${fields(problem)}.`,
  },
  'slow-down': busy,
  unavailable: busy,
};

/** The failure that an answer other than 2xx comes to. The code decides; the status only helps where no plane of ours answered. */
export const failureOf = ({ status, body: problem, retryAfter = 1 }: TransportAnswer, address: string): Failure => {
  if (!isProblem(problem)) return new Failure(`Something at ${address} answered ${status}, but not as a plane does.`);
  const telling = TELLINGS[problem.code];
  if (!telling) {
    const words = (problem.detail ?? problem.title).replace(/\.$/, '');
    return new Refused(problem.code, `${words}${requestNote(problem)}.`, EXIT.failed);
  }
  return new Refused(
    problem.code,
    telling.sentence(problem),
    telling.exitCode,
    telling.passes ? retryAfter * 1_000 : undefined,
  );
};

const requestNote = (problem: Problem): string => (problem.requestId ? ` (request ${problem.requestId})` : '');
