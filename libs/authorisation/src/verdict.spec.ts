import { describe, expect, it } from '@jest/globals';
import { ACTIONS, type Action } from './actions.js';
import { isScope, SCOPES } from './scopes.js';
import { kindsFor, verdictOn, type Asker } from './verdict.js';

const PERSON = { kind: 'person', fresh: true } as const;
const STALE = { kind: 'person', fresh: false } as const;
const MACHINE = { kind: 'machine' } as const;
const AUTOMATION = { kind: 'automation', scopes: SCOPES } as const;
const NOBODY = { kind: 'nobody' } as const;

const allowed = (asker: Asker): Action[] =>
  (Object.keys(ACTIONS) as Action[]).filter((action) => verdictOn(action, asker) === 'yes');
const open = allowed(NOBODY);

describe('the table of who may do what', () => {
  it('lets whoever asks do no more than sign in, redeem what a person issued or approved, and see whether the plane is up (O3)', () =>
    expect(open.toSorted()).toEqual([
      'begin-provider-sign-in',
      'enrol',
      'finish-provider-sign-in',
      'redeem-code',
      'redeem-login',
      'request-code',
      'request-login',
      'show-page',
      'show-provider',
      'sign-in',
      'sign-in-browser',
      'tell-health',
    ]));

  it('lets a machine do nothing but speak of itself, and a person never do it for one (O5)', () => {
    const own: Action[] = ['redeem-preadmission', 'accept-check', 'start-rotation', 'receive-log-tail'];
    expect(allowed(MACHINE).filter((action) => !open.includes(action))).toEqual(own);
    for (const action of own) expect(verdictOn(action, PERSON)).toBe('no');
  });

  it('asks for a fresh session where something is admitted or deleted (O3)', () => {
    const forFresh = (Object.keys(ACTIONS) as Action[]).filter(
      (action) => verdictOn(action, STALE) === 'session-not-fresh',
    );
    expect(forFresh).toEqual(expect.arrayContaining(['issue-token', 'approve-code', 'delete-machine']));
    for (const action of forFresh) {
      expect(verdictOn(action, PERSON)).toBe('yes');
      expect(verdictOn(action, AUTOMATION)).toBe('no');
    }
  });

  it('never lets automation with all scopes do what needs a fresh session of a person (O3)', () => {
    for (const action of allowed(AUTOMATION).filter((action) => !open.includes(action)))
      expect(ACTIONS[action].person).toBe('signed-in');
  });

  it('has a sentence and somebody for each action', () => {
    for (const action of Object.keys(ACTIONS) as Action[]) {
      expect(ACTIONS[action].does).toMatch(/^[A-Z].*\.$/);
      expect(kindsFor(action)).not.toEqual([]);
    }
    expect(kindsFor('issue-token')).toEqual(['person']);
    expect(kindsFor('enrol')).toEqual(['nobody']);
  });
});

describe('a scope', () => {
  it('is a word of a closed list', () => {
    expect(isScope('presence:read')).toBe(true);
    expect(isScope('machines:admit')).toBe(false);
  });
});
