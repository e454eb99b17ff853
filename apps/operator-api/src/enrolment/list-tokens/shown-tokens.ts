import { Injectable } from '@nestjs/common';
import { timestampOf } from '@rollcall/decider';
import { EventStore } from '@rollcall/event-store';
import { machine, machineIdOf, nodeKey } from '@rollcall/machine';
import type { OpenTokenView } from '@rollcall/wire';
import { OpenAdmissions } from '../../machine/open-admissions.js';

/** What a person has registered and nobody has used yet, as people call it. Short codes are none of it: they are refused by what they are. */
@Injectable()
export class ShownTokens {
  constructor(
    private readonly store: EventStore,
    private readonly open: OpenAdmissions,
  ) {}

  /** Those of a person, the oldest first. */
  async of(person: string): Promise<readonly OpenTokenView[]> {
    const open = await this.open.of(person);
    const shown = open.map(async ({ kind, id, name, node, issuedAt, expiresAt }) =>
      kind === 'code'
        ? []
        : [
            {
              id,
              kind,
              name,
              node: node === null ? null : await this.newestOf(node),
              issuedAt: timestampOf(issuedAt),
              expiresAt: timestampOf(expiresAt),
            },
          ],
    );
    return (await Promise.all(shown)).flat();
  }

  private async newestOf(node: string): Promise<OpenTokenView['node']> {
    const newest = await this.store.holder(nodeKey(node));
    if (newest === null) return null;
    const view = await this.store.view(machine, { stream: newest.stream });
    return { machine: machineIdOf(newest.stream), name: view?.state.name?.value ?? null };
  }
}
