import { describe, expect, it } from '@jest/globals';
import { coverageOf, isProven, unknownIds } from '../../infra/requirements/coverage.mjs';
import { idsIn, readList } from '../../infra/requirements/ids.mjs';
import { isRunOf, titlesIn } from '../../infra/requirements/titles.mjs';

describe('ids', () => {
  it('reads the list, entries of several lines included', () =>
    expect([...readList('# O\n\n- **O1** listens on\n  nothing\n- **T-1.10** waits\n')]).toEqual([
      ['O1', 'listens on nothing'],
      ['T-1.10', 'waits'],
    ]));

  it('finds in a title what stands in brackets, each id once', () => {
    expect(idsIn('keeps the old key (O19)')).toEqual(['O19']);
    expect(idsIn('counts (O22, C12) and (T-2.8 and U7)')).toEqual(['O22', 'C12', 'T-2.8', 'U7']);
    expect(idsIn('boot B1 and its clone B2 (so)')).toEqual([]);
    expect(idsIn('twice (O1, O1)')).toEqual(['O1']);
  });
});

describe('titles', () => {
  const read = (source: string) => titlesIn('a.spec.ts', source);

  it('joins the titles of groups and tests', () =>
    expect(
      read("describe('a', () => { describe('b (O1)', () => { it('c', () => {}); }); test('d', () => {}); });"),
    ).toEqual(['a › b (O1) › c', 'a › d']));

  it('leaves holes for what a table or a template fills in', () =>
    expect(
      read(
        "it.each([[1]])('%i of $name (O2)', () => {}); it(`x ${y} (O3)`, () => {}); it('a ' + b, () => {}); it.each`a`('q', f);",
      ),
    ).toEqual(['… of … (O2)', 'x … (O3)', 'a …', 'q']));

  it('counts a test with a computed title, and not what only looks like one', () =>
    expect(
      read("it(title, () => {}); exit('x', f); it.each(rows); describe.each(t)('%s', () => { it.only('y', f); });"),
    ).toEqual(['…', '… › y']));

  it('recognises the runs of a title', () => {
    expect(isRunOf('… of … (O2)', '1 of 2 (O2)')).toBe(true);
    expect(isRunOf('plain (O2).', 'plain (O2)x')).toBe(false);
  });
});

describe('coverage', () => {
  const specs = [{ spec: 'a.spec.ts', titles: ['one … (O1)', 'two (O2)', 'three (O3)'] }];
  const run = (tests: { title: string; status: string }[]) => [{ spec: 'a.spec.ts', tier: 'pure', tests }];

  it('tells what passed from what failed, was skipped or never ran', () => {
    const coverage = coverageOf(
      ['O1', 'O2', 'O3', 'O4'],
      specs,
      run([
        { title: 'one x (O1)', status: 'passed' },
        { title: 'one y (O1)', status: 'passed' },
        { title: 'two (O2)', status: 'pending' },
      ]),
    );
    expect([...coverage].map(([id, tests]) => [id, tests.map(({ status }: { status: string }) => status)])).toEqual([
      ['O1', ['passed', 'passed']],
      ['O2', ['did not run']],
      ['O3', ['did not run']],
      ['O4', []],
    ]);
    expect([...coverage.values()].map(isProven)).toEqual([true, false, false, false]);
  });

  it('takes an id as open while one of its tests fails', () =>
    expect(isProven([{ status: 'passed' }, { status: 'failed' }] as Parameters<typeof isProven>[0])).toBe(false));

  it('forgets the results of a spec that no longer exists', () =>
    expect(coverageOf(['O1'], [], run([{ title: 'one (O1)', status: 'passed' }])).get('O1')).toEqual([]));

  it('names ids that the list does not know', () =>
    expect(unknownIds(['O1', 'O2'], specs)).toEqual([{ spec: 'a.spec.ts', id: 'O3' }]));
});
