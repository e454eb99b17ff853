import type { SessionList, SessionView } from '@rollcall/wire';
import type { Context } from '../context.js';
import { EXIT, Failure } from '../failure.js';
import { clockTime } from '../output/relative-time.js';

const ORIGINS: Readonly<Record<SessionView['by'], string>> = {
  link: 'a link',
  code: 'a code',
  account: 'an account at the identity provider',
};

/** `rollcall sessions [list]`: where somebody is signed in as the caller. A computer is named as its program named it. */
export const listSessions = async ({ output, plane, surroundings }: Context): Promise<void> => {
  const list = await (await plane()).read<SessionList>('/v1/sessions', surroundings.signal);
  if (output.asJson) return output.json(list);
  output.table(
    ['ID', 'BY', 'SAYS IT IS', 'UNTIL', ''],
    list.sessions.map(({ id, by, device, expiresAt, current }) => [
      id,
      ORIGINS[by],
      device === null ? '' : JSON.stringify(device),
      clockTime(expiresAt),
      current ? 'this one' : '',
    ]),
  );
};

/** `rollcall sessions end ID`: by its id, or the first 4 or more characters of it. */
export const endSession = async (wanted: string, { output, plane, surroundings }: Context): Promise<void> => {
  const asked = await plane();
  const { sessions } = await asked.read<SessionList>('/v1/sessions', surroundings.signal);
  const [found, ...others] = sessions.filter(({ id }) => id.startsWith(wanted));
  if (!found) throw new Failure('There is no such session of yours.', EXIT.notFound);
  if (others.length > 0) throw new Failure(`Several sessions begin with ${wanted}; give more of the id.`);
  await asked.write('DELETE', `/v1/sessions/${found.id}`);
  if (output.asJson) output.json({ ended: found.id });
  else output.line(`The session ${found.id} is over.`);
};
