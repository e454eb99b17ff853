import { describe, expect, it } from '@jest/globals';
import { specFor } from '@rollcall/decider/testing';
import { MOST_PROMISES, promiseBook, promiseOf, promiserOf, promisesStream } from './promise-book.js';

const given = specFor(promiseBook);
const made = (selector: string, schedule: string) => ({ type: 'PromiseMade', selector, schedule }) as const;
const make = (selector: string, schedule: string) => ({ type: 'MakePromise', selector, schedule }) as const;
const withdraw = (selector: string) => ({ type: 'WithdrawPromise', selector }) as const;

describe('a promise', () => {
  it('is made once for a selector, and made anew with another schedule (N11)', () => {
    given().when(make('node:n1', 'always')).then(made('node:n1', 'always'));
    given(made('node:n1', 'always')).when(make('node:n1', 'always')).thenNothing();
    given(made('node:n1', 'always')).when(make('node:n1', 'none')).then(made('node:n1', 'none'));
    given(made('node:n1', 'always')).when(make('node:n1', 'none')).thenState({ 'node:n1': 'none' });
  });

  it('is withdrawn, and then there is nothing to withdraw', () => {
    given(made('node:n1', 'always')).when(withdraw('node:n1')).then({ type: 'PromiseWithdrawn', selector: 'node:n1' });
    given(made('node:n1', 'always'), made('label:a=b', 'none'))
      .when(withdraw('node:n1'))
      .thenState({ 'label:a=b': 'none' });
    given().when(withdraw('node:n1')).thenNothing();
  });

  it('is one too many beyond what one person may make, and changing one is not', () => {
    const many = Array.from({ length: MOST_PROMISES }, (_, n) => made(`node:${n}`, 'always'));
    given(...many)
      .when(make('node:new', 'always'))
      .thenRefused('too-many-promises', { most: MOST_PROMISES });
    given(...many)
      .when(make('node:0', 'none'))
      .then(made('node:0', 'none'));
  });
});

describe('what is promised of a node', () => {
  const labels = { site: 'berlin', role: 'build' };

  it('is nothing where nobody said anything: an absence is a fact, and no alarm (N11)', () => {
    expect(promiseOf('n1', labels, {})).toBeNull();
    expect(promiseOf('n1', labels, { 'node:n2': 'always', 'label:site=paris': 'always' })).toBeNull();
  });

  it('is what its labels promise together', () =>
    expect(promiseOf('n1', labels, { 'label:role=build': 'a', 'label:site=berlin': 'b', 'label:x=y': 'c' })).toEqual({
      selectors: ['label:site=berlin', 'label:role=build'],
      schedules: ['b', 'a'],
    }));

  it('is its own promise alone where it has one, also if that promises nothing', () =>
    expect(promiseOf('n1', labels, { 'label:role=build': 'always', 'node:n1': 'none' })).toEqual({
      selectors: ['node:n1'],
      schedules: ['none'],
    }));
});

it('is kept in one stream per person', () => {
  expect(promiserOf(promisesStream('ada'))).toBe('ada');
  expect(promiserOf('machine-ada')).toBeNull();
});
