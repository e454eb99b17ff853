import pg from 'pg';
import type { Witness } from './load.js';

/** How long after an answer the read model of presence shows that check, in milliseconds. */
export type PresenceLag = {
  /** Hears of the answers. */
  readonly witness: Witness;
  /** Looks until what was heard is shown, or `patienceMs` passed, then answers all lags, sorted. */
  end(): Promise<readonly number[]>;
};

const LOOK_MS = 5;
const PATIENCE_MS = 30_000;

/** Looks at the checkpoint of the read model every few milliseconds, while a load runs. */
export const watchPresenceLag = async (connectionString: string): Promise<PresenceLag> => {
  const client = new pg.Client({ connectionString });
  await client.connect();
  let waiting: { readonly recordedAt: number; readonly at: number }[] = [];
  const lags: number[] = [];
  let ending = false;
  const look = async (): Promise<void> => {
    for (let until = Infinity; ;) {
      if (ending && until === Infinity) until = performance.now() + PATIENCE_MS;
      const { rows } = await client.query<{ heard_until: Date | null }>({
        name: 'heard',
        text: `select heard_until from read_model where name = 'presence'`,
      });
      const now = performance.now();
      const heardUntil = rows[0]?.heard_until?.getTime() ?? 0;
      for (const { recordedAt, at } of waiting) if (recordedAt <= heardUntil) lags.push(Math.max(0, now - at));
      waiting = waiting.filter(({ recordedAt }) => recordedAt > heardUntil);
      if (ending && waiting.length === 0) return;
      if (now > until) throw new Error(`The read model did not show ${waiting.length} checks within ${PATIENCE_MS} ms`);
      await new Promise((resume) => setTimeout(resume, LOOK_MS));
    }
  };
  const looking = look();
  looking.catch(() => undefined);
  return {
    witness: ({ serverTime }, at) => void waiting.push({ recordedAt: Date.parse(serverTime ?? ''), at }),
    end: async () => {
      ending = true;
      try {
        await looking;
      } finally {
        await client.end();
      }
      return lags.sort((a, b) => a - b);
    },
  };
};
