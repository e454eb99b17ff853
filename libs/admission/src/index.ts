export * from './facts.js';
export * from './commands.js';
export { issuedToken, type IssuedToken, token, TOKEN_LIFE_SECONDS, type TokenState } from './token.js';
