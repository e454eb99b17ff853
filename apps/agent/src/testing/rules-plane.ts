import { Refusal } from '@rollcall/decider';
import { answerTo, generationOf, type MachineCommand } from '@rollcall/machine';
import { admit, MACHINE_ID, NO_REPORT, StreamOnClock } from '@rollcall/machine/testing';
import { hashOf, isProblemCode, type CheckRequest, type EnrolmentRequest, type RotationRequest } from '@rollcall/wire';
import { Plane, type PlaneAnswer } from '../plane/plane.js';
import { accepted, answered, lost, refused } from './in-memory-plane.js';

/** Where a call is cut off: before the plane has recorded it, or after, when its answer is lost. */
export type Cut = 'request' | 'answer';

/** A plane without a network that decides by the rules of a machine, for one installation. It calls itself by no interval but a very short one. */
export class RulesPlane extends Plane {
  readonly stream = new StreamOnClock(Date.UTC(2026, 0, 1, 12));
  /** Cuts off the next call of a kind, once. */
  readonly cuts: { rotation: Cut | null; check: Cut | null } = { rotation: null, check: null };
  /** The hashes that were registered, each once. */
  readonly registered = new Set<string>();
  #chain = 0;

  constructor(credential: string) {
    super();
    this.registered.add(hashOf(credential));
    this.#decide(admit({ keyHash: hashOf(credential) }));
  }

  /** How many generations can check in. */
  get accepted(): number {
    const { current, pending } = this.stream.state.credential;
    return [current, pending].filter((key) => key !== null).length;
  }

  get current(): number | null {
    return this.stream.state.credential.current?.generation ?? null;
  }

  override check(request: CheckRequest, credential: string): Promise<PlaneAnswer> {
    const keyHash = hashOf(credential);
    return this.#call('check', keyHash, () => {
      const { boot, sequence, checkId, said, reason = null } = request;
      this.#decide({
        type: 'AcceptCheck',
        keyHash,
        boot,
        sequence,
        checkId,
        said,
        reason,
        blockers: null,
        notProbed: [],
        name: null,
        report: NO_REPORT,
        chain: null,
        policy: { interval: 30, windowFloor: 120 },
      });
      const { generation, logTail } = answerTo(this.stream.state, boot);
      const rotate = this.stream.state.requests?.rotation?.stamp ?? null;
      const machine = { id: MACHINE_ID, name: null, owner: 'person-1', generation };
      return accepted({ machine, interval: 0.02, chain: `${(this.#chain += 1)}`, requests: { logTail, rotate } });
    });
  }

  override startRotation({ credentialHash }: RotationRequest, credential: string): Promise<PlaneAnswer> {
    const keyHash = hashOf(credential);
    return this.#call('rotation', keyHash, () => {
      const isKnown = this.registered.has(credentialHash);
      this.#decide({ type: 'StartRotation', keyHash, nextKeyHash: credentialHash, isKnown });
      this.registered.add(credentialHash);
      return answered(200, JSON.stringify({ generation: generationOf(this.stream.state.credential, credentialHash) }));
    });
  }

  override uploadLogTail(): Promise<PlaneAnswer> {
    return Promise.reject(new Error('This plane asks for no log'));
  }

  override enrol(_request: EnrolmentRequest): Promise<PlaneAnswer> {
    return Promise.reject(new Error('This plane has admitted its machine already'));
  }

  override expect(): void {}

  override abandonConnections(): void {}

  async #call(kind: 'rotation' | 'check', keyHash: string, work: () => PlaneAnswer): Promise<PlaneAnswer> {
    const cut = this.cuts[kind];
    this.cuts[kind] = null;
    if (cut === 'request') return lost();
    const answer = this.registered.has(keyHash) ? said(work) : refused('credential-unknown');
    return cut === 'answer' ? lost() : answer;
  }

  #decide(command: MachineCommand): void {
    this.stream.now += 1_000;
    this.stream.do(command);
  }
}

const said = (work: () => PlaneAnswer): PlaneAnswer => {
  try {
    return work();
  } catch (error) {
    if (error instanceof Refusal && isProblemCode(error.code)) return refused(error.code, { ...error.details });
    throw error;
  }
};
