import { describe, expect, it } from '@jest/globals';
import { specFor } from '@rollcall/decider/testing';
import type { MachineFact } from './facts.js';
import { handingOn, machine } from './machine.js';
import { admit, admitted, confirmed, deleted, keyHash, labelled, MACHINE_ID, registered } from './testing/builders.js';

const given = specFor(machine);
const after = (...facts: readonly MachineFact[]) => facts.reduce(machine.evolve, machine.initial());

const PREDECESSOR = '0192f0c4-0000-7000-8000-000000000000';
const succeeds = { machineId: PREDECESSOR, name: 'forge', labels: { rack: 'b7' } };

describe('a node and its machines (N19)', () => {
  it('gives its name and its labels to its next machine', () =>
    given()
      .when(admit({ succeeds }))
      .then(admitted({ name: 'forge', succeeds: PREDECESSOR }), registered(1), labelled({ rack: 'b7' })));

  it('takes the name that comes with a token before its own', () =>
    given()
      .when(admit({ succeeds, token: { ...admit().token, name: 'anvil' } }))
      .then(admitted({ name: 'anvil', succeeds: PREDECESSOR }), registered(1), labelled({ rack: 'b7' })));

  it('is named by the first check of its next machine where nobody has named it', () =>
    given()
      .when(admit({ succeeds: { machineId: PREDECESSOR, name: null, labels: {} } }))
      .then(admitted({ succeeds: PREDECESSOR }), registered(1)));

  it('is held by its machine that lives, and a machine has one successor', () => {
    expect(machine.claims?.(admitted({ succeeds: PREDECESSOR }))).toEqual(
      expect.arrayContaining([
        { op: 'take', key: 'node:node-1' },
        { op: 'take', key: `succession:${PREDECESSOR}` },
      ]),
    );
    expect(machine.claims?.(deleted())).toContainEqual({ op: 'release', key: 'node:node-1' });
  });

  it('is given back by a deletion that a version before recorded, as the migration has it, without a word', () => {
    const { nodeId: _, ...older } = deleted();
    expect(machine.claims?.(older)).toEqual([{ op: 'release', key: 'identifier:identifier-1' }]);
  });

  it('hands on what people said of it as it stood when its machine was deleted, and nothing while that lives', () => {
    const living = [
      admitted({ name: 'lab-1' }),
      registered(1),
      confirmed(1),
      { type: 'MachineRenamed', name: 'forge' } as const,
      labelled({ rack: 'b7' }),
    ];
    expect(handingOn(after(...living))).toBeNull();
    expect(handingOn(machine.initial())).toBeNull();
    expect(handingOn(after(...living, deleted()))).toEqual({
      machineId: MACHINE_ID,
      owner: 'person-1',
      name: 'forge',
      labels: { rack: 'b7' },
    });
  });

  it('keeps the credentials of its machines apart: the next one begins with generation 1', () =>
    given()
      .when(admit({ succeeds: { ...succeeds, labels: {} }, keyHash: keyHash(7) }))
      .then(admitted({ name: 'forge', succeeds: PREDECESSOR }), registered(1, keyHash(7))));
});
