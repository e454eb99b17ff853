export * from './facts.js';
export * from './commands.js';
export { liveSession, person, type PersonState, type Session, type SignInLink } from './person.js';
