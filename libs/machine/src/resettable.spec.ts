import { expect, it } from '@jest/globals';
import { machine } from './machine.js';
import { withoutResettable } from './resettable.js';
import { admitted, boot, checkedIn, confirmed, registered } from './testing/builders.js';

it('resets the chain and each boot’s chain number, and nothing else', () => {
  const state = [
    admitted(),
    registered(1),
    confirmed(1),
    checkedIn({ chain: { presented: null, issued: 1 } }),
    checkedIn({ boot: boot(2), chain: { presented: 1, issued: 2 } }),
  ].reduce(machine.evolve, machine.initial());
  expect(withoutResettable(state)).toStrictEqual({
    ...state,
    boots: state.boots.map(({ boot: of, sequence, checkId, interval }) => ({
      boot: of,
      sequence,
      checkId,
      interval,
      chain: null,
    })),
    checkIns: { window: 120, chain: null, generation: 1 },
  });
  expect(state.boots.map(({ chain }) => chain)).toEqual([1, 2]);
});
