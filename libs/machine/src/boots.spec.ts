import { describe, expect, it } from '@jest/globals';
import { specFor } from '@rollcall/decider/testing';
import { boots, isRepetition } from './boots.js';
import { boot, check, checkedIn, checkIdOf, started } from './testing/builders.js';

const given = specFor(boots);

const checked = (counter: number, sequence: number) => checkedIn({ boot: boot(counter), sequence });
const checkOf = (counter: number, sequence: number) => check({ boot: boot(counter), sequence });

describe('the order of checks', () => {
  it('sees a start of the agent in its first check', () => {
    given()
      .when(checkOf(1, 1))
      .then(started(boot(1)));
    given(checked(1, 1))
      .when(checkOf(2, 1))
      .then(started(boot(2)));
  });

  it('takes the checks of a boot by rising sequence, with or without holes', () => {
    given(checked(1, 1)).when(checkOf(1, 2)).thenNothing();
    given(checked(1, 1)).when(checkOf(1, 9)).thenNothing();
  });

  it.each([
    ['the same sequence with another checkId', [checked(1, 5)], check({ sequence: 5, checkId: 'other' }), 1],
    ['a lower sequence', [checked(1, 5)], checkOf(1, 4), 1],
    ['a lower boot that is remembered', [checked(1, 5), checked(2, 1)], checkOf(1, 6), 2],
    ['a lower boot that was never seen', [checked(3, 1)], checkOf(2, 1), 3],
    ['a lower boot that is no longer remembered', [1, 2, 3, 4, 5, 6].map((n) => checked(n, 1)), checkOf(1, 2), 6],
  ])('calls %s stale, and names the highest boot', (_what, past, command, highestBoot) =>
    given(...past)
      .when(command)
      .thenRefused('stale-check', { highestBoot }),
  );

  it('takes the same counter with another id as a boot of its own, ordered by its own sequence', () => {
    const copy = boot(1, 'cccccccc');
    given(checked(1, 5))
      .when(check({ boot: copy, sequence: 1 }))
      .then(started(copy));
    const both = [checked(1, 5), checkedIn({ boot: copy, sequence: 1 })];
    given(...both)
      .when(checkOf(1, 6))
      .thenNothing();
    given(...both)
      .when(checkOf(1, 5))
      .thenRefused('stale-check', { highestBoot: 1 });
    given(...both)
      .when(check({ boot: copy, sequence: 2 }))
      .thenNothing();
    given(...both)
      .when(check({ boot: copy, sequence: 1 }))
      .thenRefused('stale-check', { highestBoot: 1 });
  });

  it('remembers the newest check of the last four boots', () =>
    given(checked(1, 1), checked(2, 1), checked(3, 1), checked(4, 1), checked(5, 1), checked(5, 2))
      .when(checkOf(5, 3))
      .thenNothing());
});

describe('the repetition of a check after a lost answer', () => {
  const past = [checked(1, 1), checked(2, 1), checked(3, 1), checked(4, 1), checked(5, 1), checked(5, 2)];
  const remembered = () => past.reduce(boots.evolve, boots.initial());

  it.each([
    ['the newest check of the newest boot', boot(5), checkIdOf(boot(5), 2), true],
    ['the newest check of the oldest remembered boot', boot(2), checkIdOf(boot(2), 1), true],
    ['a check before the newest', boot(5), checkIdOf(boot(5), 1), false],
    ['a check of a boot that is no longer remembered', boot(1), checkIdOf(boot(1), 1), false],
    ['a checkId of another boot', boot(4), checkIdOf(boot(5), 2), false],
    ['the same counter with another id', boot(5, 'cccccccc'), checkIdOf(boot(5), 2), false],
    ['the same id with another counter', boot(6, boot(5).id), checkIdOf(boot(5), 2), false],
  ])('recognises %s: %#', (_what, of, checkId, expected) => {
    expect(isRepetition(remembered(), { boot: of, checkId })).toBe(expected);
  });

  it('keeps at most four boots, the newest ones, in their order', () => {
    expect(remembered().map((record) => [record.boot.counter, record.sequence])).toEqual([
      [2, 1],
      [3, 1],
      [4, 1],
      [5, 2],
    ]);
  });

  it('changes what is remembered of its own boot, and of no other', () => {
    const checkIds = [...past, checked(4, 2)].reduce(boots.evolve, boots.initial()).map(({ checkId }) => checkId);
    expect(checkIds).toEqual([
      checkIdOf(boot(2), 1),
      checkIdOf(boot(3), 1),
      checkIdOf(boot(4), 2),
      checkIdOf(boot(5), 2),
    ]);
  });

  it('keeps what the answer was', () => {
    const answered = checkedIn({ interval: 45, chain: { presented: null, issued: 7 } });
    expect(boots.evolve([], answered)).toEqual([
      { boot: boot(1), sequence: 1, checkId: answered.checkId, interval: 45, chain: 7 },
    ]);
    expect(boots.evolve([], checkedIn())[0]?.chain).toBeNull();
  });
});
