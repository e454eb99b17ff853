import { readPrivateFileAtStart } from '@rollcall/secret-file';
import type { EnvironmentReader } from '@rollcall/settings';

const URL_SETTING = 'ROLLCALL_DATABASE_URL';
const PASSWORD_SETTING = 'ROLLCALL_DATABASE_PASSWORD_FILE';

/**
 * `ROLLCALL_DATABASE_URL`, required, with the password that stands in the owner-only file `ROLLCALL_DATABASE_PASSWORD_FILE` (Default: the
 * address holds it, or none is needed). An environment is shown to whoever may look at the process, and to what it starts (I10).
 */
export const readDatabaseUrl = (settings: EnvironmentReader): string => {
  const address = settings.url(URL_SETTING, ['postgres:', 'postgresql:']);
  const file = settings.optionalText(PASSWORD_SETTING);
  if (file === null || !URL.canParse(address)) return address;
  const url = new URL(address);
  if (url.password) settings.problem(`${URL_SETTING} holds a password beside ${PASSWORD_SETTING}: set one of them`);
  try {
    const password = readPrivateFileAtStart(file).toString('utf8').trim();
    if (!password) settings.problem(`${PASSWORD_SETTING}: there is nothing in ${file}`);
    url.password = encodeURIComponent(password);
    // An address without a host has no place for one, and does not say so.
    if (password && !url.password) settings.problem(`${URL_SETTING} names no host that a password could be for`);
  } catch (error) {
    settings.problem(`${PASSWORD_SETTING}: ${error instanceof Error ? error.message : String(error)}`);
  }
  return url.toString();
};
