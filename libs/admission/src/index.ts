export * from './facts.js';
export * from './commands.js';
export {
  code,
  CODE_ALPHABET,
  CODE_LIFE_SECONDS,
  type CodeApproval,
  type CodeState,
  isOpen,
  readUserCode,
  userCodeOf,
} from './code.js';
export { afterWrong, lockedFor, type WrongCodes } from './wrong-codes.js';
export { issuedToken, type IssuedToken, token, TOKEN_LIFE_SECONDS, type TokenState } from './token.js';
