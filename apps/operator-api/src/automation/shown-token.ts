import type { AutomationToken } from '@rollcall/person';
import type { AutomationTokenView } from '@rollcall/wire';

/** A token as people see it: without its hash. */
export const shownToken = ({ tokenId, name, scopes, issuedAt, expiresAt }: AutomationToken): AutomationTokenView => ({
  id: tokenId,
  name,
  scopes,
  issuedAt,
  expiresAt,
});
