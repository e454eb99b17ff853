import { expect, it } from '@jest/globals';
import { PERSON_ONLY_EVENTS, RECORDED_ACTORS } from '@rollcall/authorisation';
import type { Decider } from '@rollcall/decider';
import { InMemoryEventStore } from './testing/index.js';

/** A decider without any rule of its own: it lets whatever is asked for happen. */
const careless: Decider<null, { readonly type: string }, { readonly type: string }> = {
  fold: 1,
  initial: () => null,
  decide: (_state, { type }) => [{ type: 'SomethingElse' }, { type }],
  evolve: (state) => state,
};

it('lets nobody but a person bring about what admits or deletes, whichever decider it comes from (O3)', async () => {
  const store = new InMemoryEventStore();
  for (const type of PERSON_ONLY_EVENTS)
    for (const kind of RECORDED_ACTORS) {
      const decision = store.decide(careless, { stream: `${type}-${kind}` }, { type }, { actor: { kind, id: 'x' } });
      if (kind === 'person') expect(await decision).toMatchObject({ repeated: false });
      else await expect(decision).rejects.toMatchObject({ name: 'Refusal', code: 'actor-refused' });
    }
  // What is refused leaves nothing behind, not even what came before it in the same decision.
  const facts = (await store.readBatches(0n, 100)).flatMap((batch) => batch.facts);
  expect(new Set(facts.map((fact) => (fact.kind === 'event' ? fact.actor.kind : fact.kind)))).toEqual(
    new Set(['person']),
  );
  await store.close();
});

it('lets automation look after webhooks, and nothing that was invented since (O3)', async () => {
  const store = new InMemoryEventStore();
  const ask = (type: string) =>
    store.decide(
      { ...careless, decide: () => [{ type }] },
      { stream: 'webhook-1' },
      { type },
      {
        actor: { kind: 'automation', id: 'a' },
      },
    );
  expect(await ask('WebhookEndpointPaused')).toMatchObject({ repeated: false });
  await expect(ask('MachineApprovedBySomething')).rejects.toMatchObject({ code: 'actor-refused' });
  await store.close();
});
