import { describe, expect, it } from '@jest/globals';
import { chooseKeys, type CredentialReading } from './credential-file.js';

const whole = (generation: number, address = 'https://plane.example'): CredentialReading => ({
  state: 'whole',
  key: { secret: `rcm_${generation}`, generation, address },
});
const torn: CredentialReading = { state: 'torn' };
const absent: CredentialReading = { state: 'absent' };
const unusable: CredentialReading = { state: 'unusable', why: 'it can be read by others' };

describe('the credentials to check in with', () => {
  it.each<[string, CredentialReading, CredentialReading, number[], boolean]>([
    ['(a) a torn pending one beside a good one is removed', whole(3), torn, [3], true],
    ['(b) a pending one stands in for a lost one', torn, whole(4), [4], false],
    ['(d) the newest comes first, the other is kept to fall back on', whole(3), whole(4), [4, 3], false],
    ['a pending one that was overtaken is ignored', whole(4), whole(4), [4], false],
    ['a pending one of another plane is ignored', whole(3), whole(4, 'https://other.example'), [3], false],
    ['a pending one stands in for one that is not there', absent, whole(4), [4], false],
    ['an unusable pending one changes nothing', whole(3), unusable, [3], false],
    ['nothing at all is no problem yet', absent, absent, [], false],
  ])('%s (C04)', (_, live, next, generations, removeNext) => {
    const chosen = chooseKeys(live, next);
    expect(chosen.keys.map(({ generation }) => generation)).toEqual(generations);
    expect(chosen).toMatchObject({ removeNext, problem: null });
  });

  it.each<[string, CredentialReading, CredentialReading]>([
    ['both are damaged', torn, torn],
    ['the only one is damaged', torn, absent],
    ['the only one is open to others', unusable, absent],
    ['the pending one alone is there, damaged', absent, torn],
  ])('are none when %s, which is told and removes nothing (C04)', (_, live, next) => {
    const chosen = chooseKeys(live, next);
    expect(chosen).toMatchObject({ keys: [], removeNext: false });
    expect(chosen.problem).toMatch(/^credential unreadable/);
  });
});
