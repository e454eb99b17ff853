export { ensureFirstPerson } from './ensure-first-person.js';
export { issueSignInLink, signInAddress } from './sign-in-link.js';
