import { describe, expect, it } from '@jest/globals';
import { commonFactor, isFleetSilence } from './judgement.js';

describe('a silence of the fleet (B4)', () => {
  it('is that of a fifth of it, and of ten machines at least', () => {
    expect(isFleetSilence({ silent: 9, of: 1_000 })).toBe(false);
    expect(isFleetSilence({ silent: 199, of: 1_000 })).toBe(false);
    expect(isFleetSilence({ silent: 200, of: 1_000 })).toBe(true);
    expect(isFleetSilence({ silent: 9, of: 9 })).toBe(false);
    expect(isFleetSilence({ silent: 10, of: 10 })).toBe(true);
    expect(isFleetSilence({ silent: 10, of: 51 })).toBe(false);
  });
});

describe('what silent machines have in common (B4)', () => {
  const fleet = { silent: 300, of: 1_000 };
  const rack = (value: string, silent: number, of: number) => ({ attribute: 'label rack', value, silent, of });

  it('is the value that sets them apart most', () => {
    const b7 = rack('b7', 290, 310);
    expect(
      commonFactor([rack('b8', 10, 690), b7, { ...rack('linux', 300, 1_000), attribute: 'platform' }], fleet),
    ).toBe(b7);
  });

  it('is nothing where no value is twice as frequent among them as among all', () => {
    expect(commonFactor([rack('b7', 180, 300)], fleet)).not.toBeNull();
    expect(commonFactor([rack('b7', 180, 301)], fleet)).toBeNull();
    expect(commonFactor([], fleet)).toBeNull();
    expect(commonFactor([rack('b7', 40, 40)], { silent: 40, of: 40 })).toBeNull();
  });

  it('is no value that most of them lack', () => {
    expect(commonFactor([rack('b7', 149, 149)], fleet)).toBeNull();
    expect(commonFactor([rack('b7', 150, 150)], fleet)).not.toBeNull();
  });

  it('is, of values that set them apart alike, that of most of them', () => {
    const [fewer, most] = [rack('b7', 200, 200), { ...rack('north', 300, 300), attribute: 'label site' }];
    expect(commonFactor([fewer, most], fleet)).toBe(most);
    expect(commonFactor([most, fewer], fleet)).toBe(most);
    const twin = { ...most, attribute: 'agent' };
    expect(commonFactor([most, twin], fleet)).toBe(twin);
  });
});
