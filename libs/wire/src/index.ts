export * from './machine.js';
export * from './operator.js';
export * from './presence.js';
export * from './problem.js';
export * from './secret.js';
export * from './pin.js';
export * from './enrolment-token.js';
export * from './sign-in-link.js';
