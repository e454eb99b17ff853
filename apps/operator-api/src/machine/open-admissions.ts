import { Injectable } from '@nestjs/common';
import {
  code,
  codeIdOf,
  codeStream,
  token,
  TOKEN_LIFE_SECONDS,
  tokenIdOf,
  tokenStream,
  type CodeApproved,
  type TokenIssued,
} from '@rollcall/admission';
import { instantOf, type Instant } from '@rollcall/decider';
import { EventStore, part, type Part, type RecordedEvent } from '@rollcall/event-store';
import { redemptionKey } from '@rollcall/machine';

/** What a person has issued or approved, and no machine has used yet. */
export type OpenAdmission = {
  readonly kind: 'token' | 'preadmission' | 'code';
  readonly id: string;
  readonly name: string | null;
  /** The id of the node that gets its next machine; null: one not seen before. */
  readonly node: string | null;
  readonly issuedAt: Instant;
  readonly expiresAt: Instant;
  /** Takes it back. Fails by the claim of the redemption where a machine is quicker. */
  readonly withdrawal: Part;
};

/** Nothing that admits lives longer. */
const LONGEST_MS = TOKEN_LIFE_SECONDS.greatest * 1_000;

/** Finds what may still admit machines, as fresh as the record. */
@Injectable()
export class OpenAdmissions {
  constructor(private readonly store: EventStore) {}

  /** All of a person, the oldest first. */
  async of(person: string): Promise<readonly OpenAdmission[]> {
    const now = (await this.store.newest()).recordedAt;
    return this.open(await this.store.admissionsBy(person, now - LONGEST_MS), now);
  }

  /** Those for a node that came before the one of this stream; all, where that is not recorded yet. */
  async before(stream: string, node: string, person: string): Promise<readonly OpenAdmission[]> {
    const now = (await this.store.newest()).recordedAt;
    const events = await this.store.admissionsBy(person, now - LONGEST_MS);
    const own = events.findIndex((event) => event.stream === stream);
    const older = own === -1 ? events : events.slice(0, own);
    return this.open(
      older.filter(({ event }) => event['node'] === node),
      now,
    );
  }

  private async open(events: readonly RecordedEvent[], now: Instant): Promise<readonly OpenAdmission[]> {
    const found = await Promise.all(
      events.map((event) => (event.event.type === 'CodeApproved' ? this.ofCode(event) : this.ofToken(event, now))),
    );
    const living = found.filter((one) => one !== null && now < one.expiresAt) as readonly OpenAdmission[];
    const redeemed = await Promise.all(living.map(({ id }) => this.store.holder(redemptionKey(id))));
    return living.filter((_, index) => redeemed[index] === null);
  }

  private async ofToken(recorded: RecordedEvent, now: Instant): Promise<OpenAdmission | null> {
    const { expiresAt, name, node = null, preadmits } = recorded.event as unknown as TokenIssued;
    // Of a fleet that joined in a day, most are over: those are not asked for.
    if (now >= instantOf(expiresAt)) return null;
    const id = tokenIdOf(recorded.stream);
    const state = (await this.store.view(token, { stream: tokenStream(id) }))?.state;
    if (!state || state.withdrawn) return null;
    return {
      kind: preadmits ? 'preadmission' : 'token',
      id,
      name,
      node,
      issuedAt: recorded.recordedAt,
      expiresAt: instantOf(expiresAt),
      withdrawal: part(token, tokenStream(id), { type: 'WithdrawToken', token: id }),
    };
  }

  private async ofCode(recorded: RecordedEvent): Promise<OpenAdmission | null> {
    const { owner, name, node = null } = recorded.event as unknown as CodeApproved;
    const id = codeIdOf(recorded.stream);
    const state = (await this.store.view(code, { stream: codeStream(id) }))?.state;
    if (!state || state.answer === 'refused') return null;
    return {
      kind: 'code',
      id,
      name,
      node,
      issuedAt: recorded.recordedAt,
      expiresAt: instantOf(state.expiresAt),
      withdrawal: part(code, codeStream(id), { type: 'WithdrawApproval', code: id, by: owner }),
    };
  }
}
