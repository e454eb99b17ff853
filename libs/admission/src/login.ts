import { type Decider, instantOf, Refusal, timestampOf } from '@rollcall/decider';
import type { LoginApproved, LoginEvent, LoginRequested } from './login-facts.js';
import { CODE_LIFE_SECONDS, isAgain } from './short-code.js';

/** A program asks to act as a person; hashes are SHA-256, hex. */
export type RequestLogin = Omit<LoginRequested, 'type' | 'expiresAt'> & { readonly type: 'RequestLogin' };
/** A person says that it may act as them. */
export type ApproveLogin = Omit<LoginApproved, 'type'> & { readonly type: 'ApproveLogin' };
/** A person says that it may not. */
export type RefuseLogin = { readonly type: 'RefuseLogin' };
/** The program takes up what was approved. */
export type PickUpLogin = { readonly type: 'PickUpLogin' };
/** Everything that can be asked of a login's stream. */
export type LoginCommand = RequestLogin | ApproveLogin | RefuseLogin | PickUpLogin;

/** What is known of one login; null before it is asked for. */
export type LoginState =
  | (Omit<LoginRequested, 'type'> & {
      /** What a person said of it; null: nobody yet. */
      readonly answer: Omit<LoginApproved, 'type'> | 'refused' | 'picked-up' | null;
    })
  | null;

/** The key that the short code of a login is, by its hash: another one than that of an installation, so neither is ever taken for the other. */
export const loginUserCodeKey = (hash: string): string => `login-user-code:${hash}`;
/** The key that the device code of a login is, by its hash. */
export const loginDeviceCodeKey = (hash: string): string => `login-device-code:${hash}`;
/** The stream of a login. */
export const loginStream = (loginId: string): string => `login-${loginId}`;
/** The id of the login that a stream is about. */
export const loginIdOf = (stream: string): string => stream.slice('login-'.length);

/** Whether it is the approval of a person that nobody has taken up yet. */
export const isApproval = (answer: NonNullable<LoginState>['answer']): answer is Omit<LoginApproved, 'type'> =>
  typeof answer === 'object' && answer !== null;

/** A program asks to act as a person, who answers once; what was approved is picked up once. All of it expires as every short code does. */
export const login: Decider<LoginState, LoginCommand, LoginEvent> = {
  fold: 1,

  initial: () => null,

  decide(state, command, { now }): readonly LoginEvent[] {
    switch (command.type) {
      case 'RequestLogin': {
        if (state) throw new Refusal('code-refused');
        const { type: _, ...asked } = command;
        return [{ type: 'LoginRequested', ...asked, expiresAt: timestampOf(now + CODE_LIFE_SECONDS * 1_000) }];
      }
      case 'ApproveLogin': {
        const { person, authenticatedAt } = command;
        const again = isAgain(state, now, (answer) => isApproval(answer) && answer.person === person);
        return again ? [] : [{ type: 'LoginApproved', person, authenticatedAt }];
      }
      case 'RefuseLogin':
        return isAgain(state, now, (answer) => answer === 'refused') ? [] : [{ type: 'LoginRefused' }];
      case 'PickUpLogin':
        if (!state || !isApproval(state.answer) || now >= instantOf(state.expiresAt)) throw new Refusal('code-refused');
        return [{ type: 'LoginPickedUp' }];
    }
  },

  evolve(state, fact) {
    switch (fact.type) {
      case 'LoginRequested': {
        const { type: _, ...asked } = fact;
        return { ...asked, answer: null };
      }
      case 'LoginApproved': {
        const { type: _, ...answer } = fact;
        return state && { ...state, answer };
      }
      case 'LoginRefused':
        return state && { ...state, answer: 'refused' };
      case 'LoginPickedUp':
        return state && { ...state, answer: 'picked-up' };
      default:
        return state;
    }
  },

  claims: (fact) =>
    fact.type === 'LoginRequested'
      ? [
          { op: 'take', key: loginUserCodeKey(fact.userCodeHash) },
          { op: 'take', key: loginDeviceCodeKey(fact.deviceCodeHash) },
        ]
      : [],
};
