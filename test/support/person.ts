import { setTimeout as wait } from 'node:timers/promises';
import { issueSignInLink } from '@rollcall/first-person';
import { PinnedClient, TransportError } from '@rollcall/pinned-https';
import type { MachineList, MachineView, SignInAnswer } from '@rollcall/wire';
import type { ProcessPlane } from './plane.js';

/** How long a person waited for each answer, in milliseconds, and who was shown as absent. */
export type Looked = {
  readonly signIns: readonly number[];
  /** For each page of the list. */
  readonly pages: readonly number[];
  /** What was answered instead of what was asked for. */
  readonly failures: readonly string[];
  /** Machines that a list showed as absent. */
  readonly absent: ReadonlySet<string>;
};

/** Somebody who looks, until the end. */
export type Looking = AsyncDisposable & {
  end(): Promise<Looked>;
  /** What the newest list showed; nothing before the first one. */
  machines(): readonly MachineView[];
};

const EVERY_MS = 1_000;

/** The first person of a plane, who calls the operator API as `rollcall` does. */
export class Person {
  #session = '';

  private constructor(
    private readonly plane: ProcessPlane,
    private readonly origin: string,
  ) {}

  static async of(plane: ProcessPlane): Promise<Person> {
    const [, origin = ''] = await plane.operatorApi.waitFor(/"url":"([^"]+)","msg":"the operator API answers"/);
    const person = new Person(plane, origin);
    await person.signIn();
    return person;
  }

  /** Signs in with a new link on a new connection. @returns milliseconds */
  async signIn(): Promise<number> {
    const { secret: link } = await issueSignInLink(this.plane.store, this.plane.personId);
    return this.#connected(async (client) => {
      const begun = performance.now();
      const { session } = await this.#ask<SignInAnswer>(client, 'POST', '/v1/sessions', { link });
      this.#session = session;
      return performance.now() - begun;
    });
  }

  /** All pages of `rollcall machines list`. */
  machines(): Promise<{ readonly machines: readonly MachineView[]; readonly pages: readonly number[] }> {
    return this.#connected(async (client) => {
      const machines: MachineView[] = [];
      const pages: number[] = [];
      let after: string | null = null;
      do {
        const begun = performance.now();
        const path: string = `/v1/machines?limit=500${after === null ? '' : `&after=${after}`}`;
        const page: MachineList = await this.#ask<MachineList>(client, 'GET', path);
        pages.push(performance.now() - begun);
        machines.push(...page.machines);
        after = page.next;
      } while (after !== null);
      return { machines, pages };
    });
  }

  /** Signs in and lists the machines, once in a second until `end`. While nobody listens there is nothing to wait for yet. */
  look(): Looking {
    const over = new AbortController();
    const signIns: number[] = [];
    const pages: number[] = [];
    const failures: string[] = [];
    const absent = new Set<string>();
    let newest: readonly MachineView[] = [];
    const once = async () => {
      signIns.push(await this.signIn());
      const { machines, pages: waited } = await this.machines();
      pages.push(...waited);
      newest = machines;
      for (const { id, presence } of machines) if (presence === 'absent') absent.add(id);
    };
    const looking = (async () => {
      while (!over.signal.aborted) {
        await once().catch((error: unknown) => {
          const isThere = signIns.length > 0 || !(error instanceof TransportError);
          if (isThere) failures.push(String(error));
        });
        await wait(EVERY_MS, undefined, { signal: over.signal }).catch(() => undefined);
      }
    })();
    const end = async () => {
      over.abort();
      await looking;
      return { signIns, pages, failures, absent };
    };
    return { end, machines: () => newest, [Symbol.asyncDispose]: () => end().then(() => undefined) };
  }

  async #connected<Result>(use: (client: PinnedClient) => Promise<Result>): Promise<Result> {
    const client = new PinnedClient({ origin: this.origin, pins: this.plane.machineApi.pins });
    try {
      return await use(client);
    } finally {
      client.abandonConnections();
    }
  }

  async #ask<Answer>(client: PinnedClient, method: 'GET' | 'POST', path: string, body?: object): Promise<Answer> {
    const answer = await client.request({
      method,
      path,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${this.#session}` },
      ...(body ? { body: JSON.stringify(body) } : {}),
      signal: AbortSignal.timeout(30_000),
      answerLimit: 4 * 2 ** 20,
    });
    if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${answer.body}`);
    return JSON.parse(answer.body) as Answer;
  }
}
