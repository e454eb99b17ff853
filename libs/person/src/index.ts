export * from './facts.js';
export * from './commands.js';
export { isFresh, liveSession, person, type PersonState, type Session, type SignInLink } from './person.js';
