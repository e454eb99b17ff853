export * from './facts.js';
export * from './commands.js';
export { code, type CodeApproval, type CodeState } from './code.js';
export {
  CODE_ALPHABET,
  CODE_FLOOR_MS,
  CODE_LIFE_SECONDS,
  isOpen,
  readUserCode,
  userCodeOf,
  type Answerable,
} from './short-code.js';
export * from './login-facts.js';
export {
  isApproval,
  login,
  loginDeviceCodeKey,
  loginIdOf,
  loginStream,
  loginUserCodeKey,
  type LoginCommand,
  type LoginState,
} from './login.js';
export { afterQuestion, POLL, type Pace } from './poll-pace.js';
export { afterStart, type Starts } from './bounded-starts.js';
export { afterWrong, lockedFor, withoutWrong, type WrongCodes } from './wrong-codes.js';
export { issuedToken, type IssuedToken, token, TOKEN_LIFE_SECONDS, type TokenState } from './token.js';
