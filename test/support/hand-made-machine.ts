import { randomUUID } from 'node:crypto';
import {
  decodeEnrolmentToken,
  hashOf,
  makeSecret,
  type CheckAnswer,
  type CheckRequest,
  type EnrolmentAnswer,
  type EnrolmentRequest,
} from '@rollcall/wire';

/** What came back, of a body that is JSON the value. */
export type Answered = { readonly status: number; readonly body: unknown; readonly retryAfter?: string | undefined };

/** How a request gets to a machine API; an object is sent as JSON. */
export type Send = (
  method: string,
  path: string,
  call: {
    readonly credential?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: object;
  },
) => Promise<Answered>;

/** A machine without an agent: a test decides what it says, when, and to whom. */
export class HandMadeMachine {
  #sequence = 0;
  #chain: string | null = null;
  #wanted: string | null = null;

  private constructor(
    readonly id: string,
    readonly credential: string,
    /** What it joined with. */
    readonly enrolment: EnrolmentRequest,
    private readonly send: Send,
  ) {}

  /** @param token whole, `rollcall1.…` @param send used for all that it says, unless a call names another way */
  static async join(token: string, send: Send): Promise<HandMadeMachine> {
    const credential = makeSecret('rcm');
    const { secret } = decodeEnrolmentToken(token);
    const profile = { hostname: 'by-hand' };
    const enrolment = { token: secret, identifier: randomUUID(), credentialHash: hashOf(credential), profile };
    const { status, body } = await send('POST', '/v1/enrolments', { body: enrolment });
    if (status !== 201) throw new Error(`The machine was not admitted: ${status} ${JSON.stringify(body)}`);
    return new HandMadeMachine((body as EnrolmentAnswer).machine.id, credential, enrolment, send);
  }

  /** The body of its next honest check. */
  next(): CheckRequest {
    this.#sequence += 1;
    return {
      boot: { counter: 1, id: 'abcdef01' },
      sequence: this.#sequence,
      checkId: randomUUID(),
      chain: this.#chain,
      said: 'running',
      name: 'by hand',
      blockers: [],
    };
  }

  /** Says something, and learns from the answer if it is one to a check. */
  async say(body: object, send: Send = this.send): Promise<Answered> {
    const answer = await send('POST', '/v1/check', { credential: this.credential, body });
    if (answer.status === 200) {
      const { chain, requests } = answer.body as CheckAnswer;
      this.#chain = chain;
      this.#wanted = requests.logTail;
    }
    return answer;
  }

  /** Checks in. @param more other than an honest check @returns the status */
  async check(more: object = {}): Promise<number> {
    return (await this.say({ ...this.next(), ...more })).status;
  }

  /** Uploads a line of log. @param stamp (Default: the one that the last answer asked for) @returns the status */
  async upload(stamp: string | null = this.#wanted): Promise<number> {
    const headers = { 'content-type': 'application/octet-stream' };
    const body = Buffer.from('a line\n');
    return (await this.send('PUT', `/v1/log-tails/${stamp}`, { credential: this.credential, headers, body })).status;
  }
}
