import { describe, it } from '@jest/globals';
import { specFor } from '@rollcall/decider/testing';
import type { RenameMachine } from './commands.js';
import type { MachineRenamed, NameAdopted } from './facts.js';
import { naming } from './naming.js';
import { admitted, check } from './testing/builders.js';

const given = specFor(naming);

const adopted = (name: string): NameAdopted => ({ type: 'NameAdopted', name });
const renamed = (name: string): MachineRenamed => ({ type: 'MachineRenamed', name });
const rename = (name: string): RenameMachine => ({ type: 'RenameMachine', name });

describe('the display name (O24)', () => {
  it('is adopted from the first check that carries one', () =>
    given(admitted())
      .when(check({ name: 'ip-10-0-0-7' }))
      .then(adopted('ip-10-0-0-7')));

  it('is not adopted from a check without one', () =>
    given(admitted())
      .when(check({ name: null }))
      .thenNothing());

  it('is adopted once', () =>
    given(admitted(), adopted('a'))
      .when(check({ name: 'b' }))
      .thenNothing());

  it('is not adopted where the token gave one', () =>
    given(admitted({ name: 'lab-1' }))
      .when(check({ name: 'ip-10-0-0-7' }))
      .thenNothing());

  it("is not adopted over a person's word", () => {
    given(admitted(), renamed('build-box'))
      .when(check({ name: 'ip-10-0-0-7' }))
      .thenNothing();
    given(admitted(), adopted('a'), renamed('build-box'))
      .when(check({ name: 'a' }))
      .thenNothing();
  });

  it('is changed by a person, at any time', () => {
    given(admitted()).when(rename('build-box')).then(renamed('build-box'));
    given(admitted(), adopted('a')).when(rename('build-box')).then(renamed('build-box'));
    given(admitted({ name: 'lab-1' }))
      .when(rename('build-box'))
      .then(renamed('build-box'));
    given(admitted(), renamed('a')).when(rename('build-box')).then(renamed('build-box'));
  });

  it('remembers who gave it', () => {
    given(admitted({ name: 'lab-1' }))
      .when(check({ name: 'b' }))
      .thenState({ value: 'lab-1', by: 'token' });
    given(admitted())
      .when(check({ name: 'b' }))
      .thenState({ value: 'b', by: 'check' });
  });

  it('becomes a person’s word when a person says the same name', () => {
    given(admitted(), adopted('a')).when(rename('a')).then(renamed('a'));
    given(admitted({ name: 'a' }))
      .when(rename('a'))
      .then(renamed('a'));
    given(admitted(), adopted('a')).when(rename('a')).thenState({ value: 'a', by: 'person' });
  });

  it('is not renamed to what a person called it already', () =>
    given(admitted(), renamed('a')).when(rename('a')).thenNothing());
});
