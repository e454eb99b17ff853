import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { readDatabaseUrl, renewEpoch } from '@rollcall/event-store-postgres';
import { readNatsFeed } from '@rollcall/feed-nats';
import { cleanDisplay } from '@rollcall/machine';
import { ConfigError, readConfig } from '@rollcall/settings';
import { compareFeed } from './compare-feed.js';
import { makeSignInLink } from './make-sign-in-link.js';
import { runMigrations } from './run-migrations.js';

/** Where words go, and where settings come from; tests pass their own. */
export type Surroundings = {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly out: (line: string) => void;
  readonly err: (line: string) => void;
};

const NAME_LIMIT = 64;

/** A setting is missing or of the wrong form. */
class SettingError extends Error {}

/**
 * `rollcall-setup`: what whoever runs a plane does at its database, as jobs: `migrate` before a new version starts, `sign-in-link` for
 * the first person, `restore-mark` after a restore, `feed` for what NATS holds. Everything else is the business of `rollcall`.
 *
 * @returns the exit code: 0 done, 1 failed, 2 the command line or a setting is not usable.
 */
export const run = async (argv: readonly string[], { environment, out, err }: Surroundings): Promise<number> => {
  const setting = (name: string, fallback?: string): string => {
    const value = environment[name]?.trim() || fallback;
    if (value === undefined) throw new SettingError(`${name} is not set`);
    return value;
  };
  const databaseUrl = () => readConfig(environment, (settings) => ({ url: readDatabaseUrl(settings) })).url;
  const program = new Command('rollcall-setup')
    .description('Jobs of whoever runs a plane, at its database (ROLLCALL_DATABASE_URL) and at NATS.')
    .exitOverride()
    .configureOutput({ writeOut: (text) => out(text.trimEnd()), writeErr: (text) => err(text.trimEnd()) });
  program
    .command('migrate')
    .description('run the migrations that the database has not run; as the owner of the schema')
    .action(async () => {
      const connectionString = databaseUrl();
      const directory = setting('ROLLCALL_MIGRATIONS_DIR', 'infra/migrations');
      for (const line of await runMigrations({ connectionString, directory })) out(line);
    });
  program
    .command('sign-in-link')
    .description('print a link that signs the first person in, once, within an hour')
    .option('--person <name>', 'what the first person is called; the first name stays', name, 'operator')
    .action(async ({ person }: { person: string }) => {
      const address = setting('ROLLCALL_OPERATOR_API_ADDRESS', 'https://127.0.0.1:8444');
      if (!URL.canParse(address) || new URL(address).origin !== address || !address.startsWith('https:'))
        throw new SettingError('ROLLCALL_OPERATOR_API_ADDRESS is not an origin such as https://127.0.0.1:8444');
      // With certificate files of one's own there is no authority of the plane, and nothing to pin.
      const authority = environment['ROLLCALL_TLS_CERT_FILE'] ? null : setting('ROLLCALL_CA_DIR');
      out(await makeSignInLink({ connectionString: databaseUrl(), person, address, authority }));
    });
  program
    .command('restore-mark')
    .description('give the record a new epoch, a step of every restore: readers rebuild')
    .action(async () => out(`The record has the epoch ${await renewEpoch(databaseUrl())}; readers rebuild.`));
  let exitCode = 0;
  program
    .command('feed')
    .description('compare the streams and consumers at NATS (ROLLCALL_NATS_URL) with what a plane needs')
    .option('--apply', 'change what differs', false)
    .action(async ({ apply }: { apply: boolean }) => {
      const { feed } = readConfig(environment, (settings) => ({ feed: readNatsFeed(settings) }));
      if (feed === null) throw new SettingError('ROLLCALL_NATS_URL is not set');
      const { lines, isAsItMustBe } = await compareFeed(feed, apply);
      for (const line of lines) out(line);
      if (!isAsItMustBe) exitCode = 1;
    });

  try {
    await program.parseAsync([...argv], { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    err(`rollcall-setup: ${error instanceof Error ? error.message : String(error)}`);
    return error instanceof SettingError || error instanceof ConfigError ? 2 : 1;
  }
};

const name = (text: string): string => {
  const trimmed = text.trim();
  if (cleanDisplay(trimmed, NAME_LIMIT) !== trimmed)
    throw new InvalidArgumentError(`It has 1 to ${NAME_LIMIT} characters, and no control characters.`);
  return trimmed;
};
