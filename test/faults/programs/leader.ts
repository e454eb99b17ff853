// A process of its own that wants to lead, for tests that stop it. It says when it begins to work and when it ends.
import { Leadership, type LeadershipOptions } from '@rollcall/leadership';

const options = JSON.parse(process.argv[2] ?? '') as Omit<LeadershipOptions, 'log'>;
const leaving = new AbortController();
process.once('SIGTERM', () => leaving.abort());

let begun = 0;
const say = (what: string): void => void process.stdout.write(`${what} ${begun}\n`);
const work = async (signal: AbortSignal): Promise<void> => {
  begun += 1;
  say('begun');
  await new Promise((resolve) => signal.addEventListener('abort', resolve));
  say('ended');
};

const log = { info: () => undefined, warn: () => undefined };
await new Leadership({ ...options, log }).whileLeading('work', work, leaving.signal);
