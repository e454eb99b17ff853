import { loadOrCreateAuthority, type PlaneAuthority } from '@rollcall/plane-ca';
import {
  encodeEnrolmentToken,
  hashOf,
  makeSecret,
  PROBLEM_MEDIA_TYPE,
  PROBLEM_TYPE_PREFIX,
  PROBLEMS,
  type CheckAnswer,
  type CheckRequest,
  type EnrolmentRequest,
  type ProblemCode,
  type RotationRequest,
} from '@rollcall/wire';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';

/** What a test wants to be answered: a status with a body, or a cut connection. */
export type Reply =
  | 'cut'
  | {
      readonly status: number;
      readonly type?: string;
      readonly headers?: Record<string, string>;
      readonly body: string;
    };

export type SeenCheck = { readonly body: CheckRequest; readonly credential: string };

/** A small plane on real HTTPS with an authority of its own: admits whoever bears a token it made, and takes checks. */
export class TestPlane implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #tokens = new Map<string, string | null>();
  readonly #credentials = new Map<string, string>();
  readonly #waiting = new Set<() => void>();
  readonly authority: PlaneAuthority;
  readonly checks: SeenCheck[] = [];
  readonly enrolments: EnrolmentRequest[] = [];
  readonly uploads: { readonly stamp: string; readonly log: string; readonly credential: string }[] = [];
  readonly rotations: { readonly hash: string; readonly credential: string }[] = [];
  /** What answers ask for, until a newer credential was registered. */
  wantsRotation: string | null = null;
  /** What answers ask for, until it was uploaded. */
  wantsLogTail: string | null = null;
  /** Seconds that answers carry. */
  interval: unknown = 0.3;
  /** Milliseconds by which the clock of this plane differs from that of the machine. */
  clockAhead = 0;
  /** What a check is answered with instead of success; called once per check. */
  onCheck: (check: SeenCheck) => Reply | null | Promise<Reply | null> = () => null;
  /** Loses the answer to the next enrolment after it was recorded. */
  losesEnrolmentAnswer = false;

  private constructor(server: Server, authority: PlaneAuthority) {
    this.#server = server;
    this.authority = authority;
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.#serve(request, response).catch(() => response.destroy());
    });
  }

  static async start(directory: string): Promise<TestPlane> {
    const authority = await loadOrCreateAuthority(directory);
    const { certificatePem, keyPem } = await authority.issueServerCertificate({ hosts: ['127.0.0.1', 'localhost'] });
    const server = createServer({ cert: certificatePem, key: keyPem, minVersion: 'TLSv1.3' });
    const plane = new TestPlane(server, authority);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return plane;
  }

  get address(): string {
    return `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** A token of this plane; other pins make it one for somebody else. */
  token(pins: readonly string[] = [this.authority.pin]): string {
    const secret = makeSecret('rce');
    this.#tokens.set(secret, null);
    return encodeEnrolmentToken({ address: this.address, pins, secret });
  }

  /** Takes this credential from now on. */
  admits(credential: string): void {
    this.#credentials.set(hashOf(credential), 'machine-1');
  }

  /** Forgets or revokes nothing; the next checks are answered with this refusal. */
  refuse(code: ProblemCode, extra: Record<string, unknown> = {}, headers: Record<string, string> = {}): void {
    this.onCheck = () => problem(code, extra, headers);
  }

  accept(): void {
    this.onCheck = () => null;
  }

  /** Resolves as soon as this is true; asked after each request. */
  async until(isSo: () => boolean, withinMs = 30_000): Promise<void> {
    const deadline = performance.now() + withinMs;
    while (!isSo())
      await new Promise<void>((resolve, reject) => {
        const late = setTimeout(() => reject(new Error(`Not within ${withinMs} ms`)), deadline - performance.now());
        const again = () => {
          clearTimeout(late);
          this.#waiting.delete(again);
          resolve();
        };
        this.#waiting.add(again);
      });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await once(this.#server, 'close');
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const credential = request.headers.authorization?.replace(/^Bearer /, '') ?? '';
    const reply =
      request.method === 'PUT'
        ? this.#upload(decodeURIComponent(request.url?.split('/').at(-1) ?? ''), body, credential)
        : request.url === '/v1/credential/rotations'
          ? this.#rotate((JSON.parse(body) as RotationRequest).credentialHash, credential)
          : request.url === '/v1/enrolments'
            ? this.#enrol(JSON.parse(body) as EnrolmentRequest)
            : await this.#check({ body: JSON.parse(body) as CheckRequest, credential });
    if (reply === 'cut') request.socket.destroy();
    else {
      response.writeHead(reply.status, { 'content-type': reply.type ?? 'application/json', ...reply.headers });
      response.end(reply.body);
    }
    for (const again of this.#waiting) again();
  }

  #enrol(enrolment: EnrolmentRequest): Reply {
    this.enrolments.push(enrolment);
    const { token, credentialHash, identifier } = enrolment;
    const usedFor = this.#tokens.get(token);
    if (usedFor === undefined || (usedFor !== null && usedFor !== credentialHash)) return problem('token-refused');
    this.#tokens.set(token, credentialHash);
    this.#credentials.set(credentialHash, `machine-of-${identifier}`);
    if (this.losesEnrolmentAnswer) {
      this.losesEnrolmentAnswer = false;
      return 'cut';
    }
    const machine = { id: `machine-of-${identifier}`, name: null, owner: 'person-1' };
    return { status: usedFor === null ? 201 : 200, body: JSON.stringify({ machine, interval: this.interval }) };
  }

  #rotate(hash: string, credential: string): Reply {
    const id = this.#credentials.get(hashOf(credential));
    if (id === undefined) return problem('credential-unknown');
    this.rotations.push({ hash, credential });
    this.#credentials.set(hash, id);
    this.wantsRotation = null;
    return { status: 200, body: JSON.stringify({ generation: this.rotations.length + 1 }) };
  }

  #upload(stamp: string, log: string, credential: string): Reply {
    this.uploads.push({ stamp, log, credential });
    if (stamp !== this.wantsLogTail) return problem('request-not-pending');
    this.wantsLogTail = null;
    return { status: 200, body: JSON.stringify({ logTail: stamp }) };
  }

  async #check(check: SeenCheck): Promise<Reply> {
    this.checks.push(check);
    const reply = await this.onCheck(check);
    if (reply) return reply;
    const id = this.#credentials.get(hashOf(check.credential));
    if (id === undefined) return problem('credential-unknown');
    return { status: 200, body: JSON.stringify(this.answer(id, this.checks.length)) };
  }

  answer(id: string, n: number): Omit<CheckAnswer, 'interval'> & { interval: unknown } {
    return {
      machine: { id, name: 'a-name', owner: 'person-1', generation: 1 },
      interval: this.interval,
      chain: `epoch.${n}.mac`,
      pins: [this.authority.pin],
      requests: { logTail: this.wantsLogTail, rotate: this.wantsRotation },
      serverTime: new Date(Date.now() + this.clockAhead).toISOString(),
    };
  }
}

/** One of our problem documents. */
export const problem = (
  code: ProblemCode,
  extra: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): Exclude<Reply, 'cut'> => {
  const { status, title } = PROBLEMS[code];
  const body = JSON.stringify({ type: `${PROBLEM_TYPE_PREFIX}${code}`, title, status, code, ...extra });
  return { status, type: PROBLEM_MEDIA_TYPE, headers, body };
};

const text = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
};
