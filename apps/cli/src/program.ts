import { isScope, SCOPES, type Scope } from '@rollcall/authorisation';
import { LABEL_KEY, parseLabel } from '@rollcall/machine';
import { SUBSCRIBABLE } from '@rollcall/webhook-endpoint';
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { admit, type AdmitOptions } from './commands/admit.js';
import {
  issueAutomationToken,
  listAutomationTokens,
  revokeAutomationToken,
  type NewAutomationToken,
} from './commands/automation.js';
import { approveCode, refuseCode, showCode } from './commands/codes.js';
import { showHistory, type WantedHistory } from './commands/history.js';
import { issueToken, type TokenOptions } from './commands/issue-token.js';
import { listTokens, withdrawToken } from './commands/open-tokens.js';
import {
  deleteMachine,
  labelMachine,
  listMachines,
  pauseMachine,
  renameMachine,
  requestLog,
  resumeMachine,
  rotateMachine,
  showLog,
  showOne,
  type Filter,
  type PauseOptions,
} from './commands/machines.js';
import { addPerson, linkPerson, listPeople, removePerson } from './commands/people.js';
import { listPromises, makePromise, withdrawPromise, type Subject } from './commands/promises.js';
import { listBlockers, showReadiness } from './commands/readiness.js';
import { rebuildReadModel, showReadModels } from './commands/read-models.js';
import { endSession, listSessions } from './commands/sessions.js';
import { login, logout } from './commands/sign-in.js';
import { sshCheck, type SshCheckOptions } from './commands/ssh-check.js';
import { watchMachines } from './commands/watch-machines.js';
import {
  addWebhook,
  listDeliveries,
  listWebhooks,
  removeWebhook,
  replayDeliveries,
  rollSecret,
  tellWebhook,
  type DeliveryFilter,
  type NewWebhook,
  type Replay,
} from './commands/webhooks.js';
import { explain } from './commands/why.js';
import {
  changeBinding,
  changeMember,
  createWorkspace,
  leaveWorkspace,
  listWorkspaces,
  showWorkspace,
} from './commands/workspaces.js';
import type { Context } from './context.js';
import { parseDuration } from './duration.js';
import { parsePointInTime } from './point-in-time.js';
import { VERSION } from './version.js';

const AUTOMATION_LIFE = { least: 60, most: 90 * 86_400 };
const TOKEN_LIFE = { least: 60, most: 86_400 };
const PAUSE_LENGTH = { least: 60, most: 365 * 86_400 };

/** Lets a reader of ours say no in commander's words. */
const read =
  <Value>(parse: (text: string) => Value) =>
  (text: string): Value => {
    try {
      return parse(text);
    } catch (cause) {
      throw new InvalidArgumentError(`It ${(cause as Error).message}.`);
    }
  };

const duration = (bounds: { readonly least: number; readonly most: number }): ((text: string) => number) =>
  read((text) => parseDuration(text, bounds));
const pointInTime = read(parsePointInTime);

const upTo =
  (most: number) =>
  (text: string): number => {
    const count = Number(text);
    if (!/^\d+$/.test(text) || count < 1 || count > most)
      throw new InvalidArgumentError(`It must be a number from 1 to ${most}.`);
    return count;
  };

const blockerCode = (text: string): string => {
  if (!/^[a-z][a-z0-9-]{0,63}$/.test(text))
    throw new InvalidArgumentError(
      'It must be the code of a blocker, such as disk-full; see `rollcall blockers --all`.',
    );
  return text;
};

/** Collects an option or argument that may be given more than once. */
const collect =
  <Value>(parse: (text: string) => Value) =>
  (text: string, before: readonly Value[] = []): readonly Value[] => [...before, parse(text)];

const label = (text: string): readonly [key: string, value: string] => {
  const read = parseLabel(text);
  if (read === null)
    throw new InvalidArgumentError(
      'It must be KEY=VALUE: a key of 1 to 63 lower-case letters, digits, "-", ".", "_" and "/", a value of 1 to 63 characters.',
    );
  return read;
};

const labelFilter = (text: string): string => {
  if (!LABEL_KEY.test(text)) label(text);
  return text;
};

const SENT_TYPES = [...SUBSCRIBABLE, 'webhook.test'] as const;

/** Words between commas, each of them one of these. */
const wordsOf =
  <Word extends string>(allowed: readonly Word[]) =>
  (text: string): readonly Word[] => {
    const words = [...new Set(text.split(',').map((word) => word.trim()))];
    const known = allowed.filter((word) => words.includes(word));
    if (known.length !== words.length)
      throw new InvalidArgumentError(
        `It must be one or more of these, with commas between them: ${allowed.join(', ')}.`,
      );
    return known;
  };

const scope = (text: string): Scope => {
  if (!isScope(text)) throw new InvalidArgumentError(`It must be one of these: ${SCOPES.join(', ')}.`);
  return text;
};

const tokenId = (text: string): string => {
  if (!/^[0-9a-f][0-9a-f-]{3,35}$/.test(text))
    throw new InvalidArgumentError('It must be the id of a token, or its first 4 or more characters.');
  return text;
};

const eventId = (text: string): string => {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text))
    throw new InvalidArgumentError('It must be the id of an event, as `rollcall webhooks deliveries` shows it.');
  return text.toLowerCase();
};

const fingerprint = (text: string): string => {
  if (!/^SHA256:[A-Za-z0-9+/]{43}$/.test(text))
    throw new InvalidArgumentError(
      'It must be a fingerprint as `ssh-keygen -l` shows it: SHA256:… with 43 characters.',
    );
  return text;
};

const webhookArgument = (): Argument =>
  new Argument('<webhook>', 'its id, or the first 4 or more characters of it').argParser((text: string) => {
    if (!/^[0-9a-f][0-9a-f-]{3,35}$/.test(text))
      throw new InvalidArgumentError('It must be the id of a webhook, or its first 4 or more characters.');
    return text;
  });

const LONGEST_NAME = 64;

const machineArgument = (): Argument =>
  new Argument('<machine>', 'its id, the first 8 or more characters of it, or its exact name').argParser(
    (text: string) => {
      if (Array.from(text).length > LONGEST_NAME)
        throw new InvalidArgumentError(`It is longer than any id and any name (${LONGEST_NAME} characters).`);
      return given(text);
    },
  );

/** An empty word is most often a variable of a script that was not set. */
const given = (text: string): string => {
  if (text === '') throw new InvalidArgumentError('It is empty.');
  return text;
};

const withFilter = (command: Command): Command =>
  command
    .option('--name <text>', 'only machines whose name contains this')
    .addOption(new Option('--presence <presence>', 'only these').choices(['not-yet-arrived', 'present', 'absent']))
    .option('--blocked', 'only machines that are present, but cannot take work')
    .option('--blocker <code>', 'only machines on which this blocker stands, present or not', blockerCode)
    .option('--label <key[=value]>', 'only machines with this label, whatever its value or with this one', labelFilter)
    .option('--deleted', 'deleted machines too');

const withSubject = (command: Command): Command =>
  command
    .addOption(new Option('--machine <machine>', 'for the node of this machine').argParser(given).conflicts('label'))
    .option('--label <key=value>', 'for every node with this label', (text: string) => label(text).join('='));

/**
 * The command line as commander sees it. `contextOf` is asked for a context once the options are known.
 *
 * @throws CommanderError when the words are not a command of ours; what commander wants to say goes to `say`.
 */
export const buildProgram = (
  contextOf: (options: { readonly json: boolean }) => Context,
  say: { out(text: string): void; err(text: string): void },
): Command => {
  const program = new Command('rollcall');
  const context = (): Context => contextOf({ json: program.opts<{ json?: boolean }>().json === true });

  program
    .description('Presence and identity for machines that nobody can dial: the operators’ tool.')
    .version(VERSION, '-V, --version', 'print the version of this tool')
    .option('--json', 'print one JSON document (one object per line while watching)')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ writeOut: say.out, writeErr: say.err, outputError: (text, write) => write(sentence(text)) })
    .showHelpAfterError(false)
    .exitOverride()
    .addHelpText(
      'after',
      '\nEnds with 0 done, 1 failed, 2 wrong usage, 3 not signed in, 4 not found, 130 interrupted.',
    );

  program
    .command('login')
    .description('sign in, with a short code that you approve in a browser, or with a one-time link')
    .argument(
      '[where]',
      'the address of a plane, https://…, or a link, which would stay in the history of the shell: without either it is asked for, or read from standard input',
    )
    .action((where: string | undefined) => login(where, context()));
  program
    .command('logout')
    .description('end the session, at the plane and here')
    .action(() => logout(context()));

  const sessions = program.command('sessions').description('where somebody is signed in as you');
  sessions
    .command('list', { isDefault: true })
    .description('those that can be used (the default)')
    .action(() => listSessions(context()));
  sessions
    .command('end')
    .description('end one; nobody can use it from the next request on')
    .addArgument(
      new Argument('<session>', 'its id, or the first 4 or more characters of it').argParser((text: string) => {
        if (!/^[0-9a-f][0-9a-f-]{3,35}$/.test(text))
          throw new InvalidArgumentError('It must be the id of a session, or its first 4 or more characters.');
        return text;
      }),
    )
    .action((session: string) => endSession(session, context()));

  const token = program.command('token').description('enrolment tokens');
  token
    .command('issue')
    .description('make a token that admits one machine; the token alone goes to standard output, once')
    .option('--name <name>', 'a name for the node of the machine that joins with it')
    .addOption(new Option('--new', 'for a node not seen before (the default)').conflicts('node'))
    .option('--node <machine>', 'for the next machine of a node; the one that it has is deleted at once')
    .option('--yes', 'delete the machine of the node without asking')
    .addOption(
      new Option('--expires <duration>', 'how long it can be used, such as 90s, 15m, 2h')
        .argParser(duration(TOKEN_LIFE))
        .default(900, '15m'),
    )
    .action((options: TokenOptions) => issueToken(options, context()));
  token
    .command('list')
    .description('those that can be used, and credentials of machines to come')
    .action(() => listTokens(context()));
  token
    .command('withdraw')
    .description('take one back; nobody is admitted with it from then on')
    .argument('<token>', 'its id, or the first 4 or more characters of it', tokenId)
    .action((wanted: string) => withdrawToken(wanted, context()));

  program
    .command('admit')
    .description('register the credential of a machine to come; it alone goes to standard output, once')
    .option('--name <name>', 'a name for its node')
    .addOption(new Option('--new', 'for a node not seen before (the default)').conflicts('node'))
    .option('--node <machine>', 'for the next machine of a node; the one that it has is deleted at once')
    .option('--out <file>', 'to a new file instead, which only you can read')
    .option('--yes', 'delete the machine of the node without asking')
    .addOption(
      new Option('--expires <duration>', 'how long it can be used, such as 90s, 15m, 2h')
        .argParser(duration(TOKEN_LIFE))
        .default(900, '15m'),
    )
    .addHelpText('after', '\nFor an installation over SSH: rollcall admit | ssh HOST rollcall-agent enrol')
    .action((options: AdmitOptions) => admit(options, context()));

  const people = program
    .command('people')
    .description('those whom you let use this plane, each with machines of their own');
  people
    .command('list', { isDefault: true })
    .description('you, and those whom you added (the default)')
    .action(() => listPeople(context()));
  people
    .command('add')
    .description('let somebody use this plane; the link with which they sign in goes to standard output, once')
    .argument('<name>', '1 to 64 characters', given)
    .action((name: string) => addPerson(name, context()));
  people
    .command('link')
    .description('another link for somebody whom you added')
    .argument('<person>', 'the id or the exact name', given)
    .action((person: string) => linkPerson(person, context()));

  people
    .command('remove')
    .description('end all that somebody whom you added can sign in with, for good')
    .argument('<person>', 'the id or the exact name', given)
    .option('--yes', 'without asking')
    .action((person: string, options: { readonly yes?: boolean }) => removePerson(person, options, context()));

  const workspaces = program
    .command('workspaces')
    .description('directories on machines that you share with others, and nothing else of these');
  workspaces
    .command('list', { isDefault: true })
    .description('those that you belong to (the default)')
    .action(() => listWorkspaces(context()));
  workspaces
    .command('create')
    .description('make one; it shows nothing until a directory is bound to it')
    .argument('<name>', '1 to 64 characters', given)
    .action((name: string) => createWorkspace(name, context()));
  workspaces
    .command('show')
    .description('what is bound to one, and who sees that')
    .argument('<workspace>', 'its id', given)
    .action((id: string) => showWorkspace(id, context()));
  for (const [verb, method] of [
    ['add', 'PUT'],
    ['remove', 'DELETE'],
  ] as const)
    workspaces
      .command(`${verb}-member`)
      .description(verb === 'add' ? 'let somebody see one of yours' : 'let somebody see it no longer')
      .argument('<workspace>', 'its id', given)
      .argument('<person>', 'the id of a person, as `rollcall people` shows it', given)
      .action((id: string, person: string) => changeMember(method)(id, person, context()));
  workspaces
    .command('leave')
    .description('leave one that somebody else has let you see')
    .argument('<workspace>', 'its id', given)
    .action((id: string) => leaveWorkspace(id, context()));
  for (const [verb, method] of [
    ['bind', 'PUT'],
    ['unbind', 'DELETE'],
  ] as const)
    workspaces
      .command(verb)
      .description(verb === 'bind' ? 'show a directory of a machine of yours in it' : 'show it no longer')
      .argument('<workspace>', 'its id', given)
      .addArgument(machineArgument())
      .argument('<directory>', 'an absolute path on that machine', given)
      .action((id: string, machine: string, directory: string) =>
        changeBinding(method)(id, machine, directory, context()),
      );

  const automation = program.command('automation').description('tokens with which programs act for you');
  automation
    .command('list', { isDefault: true })
    .description('those that can be used (the default)')
    .action(() => listAutomationTokens(context()));
  automation
    .command('issue')
    .description('make a token for a program; the token alone goes to standard output, once')
    .requiredOption('--name <name>', 'what the program is called', given)
    .addOption(
      new Option('--scope <scope>', `what it may do, once for each: ${SCOPES.join(', ')}`)
        .argParser(collect(scope))
        .makeOptionMandatory(),
    )
    .addOption(
      new Option('--expires <duration>', 'how long it can be used, such as 12h or 30d; 90d at most')
        .argParser(duration(AUTOMATION_LIFE))
        .default(30 * 86_400, '30d'),
    )
    .action((options: NewAutomationToken) => issueAutomationToken(options, context()));
  automation
    .command('revoke')
    .description('end a token; nobody can use it from the next request on')
    .argument('<token>', 'its id, or the first 4 or more characters of it', tokenId)
    .action((token: string) => revokeAutomationToken(token, context()));
  const codes = program.command('codes').description('installations that show a short code and wait to be let in');
  const CODE = ['<code>', 'as the installation shows it, such as WDJB-MJHT'] as const;
  codes
    .command('show')
    .description('what the installation that shows a code claims to be')
    .argument(...CODE)
    .action((code: string) => showCode(code, context()));
  codes
    .command('approve')
    .description('let it in, as a machine of yours')
    .argument(...CODE)
    .option('--name <name>', 'a name for its node')
    .addOption(new Option('--new', 'for a node not seen before (the default)').conflicts('node'))
    .option('--node <machine>', 'as the next machine of a node; the one that it has is deleted at once')
    .option('--yes', 'without asking')
    .action((code: string, options: { name?: string; node?: string; yes?: boolean }) =>
      approveCode(code, options, context()),
    );
  codes
    .command('refuse')
    .description('do not let it in')
    .argument(...CODE)
    .action((code: string) => refuseCode(code, context()));

  const machines = program.command('machines').description('the machines that are yours');
  withFilter(machines.command('list', { isDefault: true }).description('list them (the default)')).action(
    (filter: Filter) => listMachines(filter, context()),
  );
  machines
    .command('show')
    .description('everything about one machine')
    .addArgument(machineArgument())
    .action((machine: string) => showOne(machine, context()));
  machines
    .command('rename')
    .description('name a machine; what it reports later does not change that')
    .addArgument(machineArgument())
    .argument('<name>', '1 to 64 characters')
    .action((machine: string, name: string) => renameMachine(machine, name, context()));
  machines
    .command('pause')
    .description('take a machine out of work until it is resumed, or for a time; nothing that it says ends that')
    .addArgument(machineArgument())
    .requiredOption('--note <text>', 'why, for whoever wonders; 1 to 200 characters', given)
    .addOption(
      new Option('--for <duration>', 'over by itself after this, such as 90s, 15m, 2h or 3d')
        .argParser(duration(PAUSE_LENGTH))
        .conflicts('until'),
    )
    .option('--until <time>', 'over by itself at this time, in UTC unless it has an offset', pointInTime)
    .action((machine: string, options: PauseOptions) => pauseMachine(machine, options, context()));
  machines
    .command('resume')
    .description('end the pause of a machine')
    .addArgument(machineArgument())
    .action((machine: string) => resumeMachine(machine, context()));
  machines
    .command('label')
    .description('attach labels to a machine, or take them away; the others stay')
    .addArgument(machineArgument())
    .addArgument(new Argument('[labels...]', 'each as KEY=VALUE').argParser(collect(label)))
    .option('--remove <key>', 'take this label away; may be given more than once', collect(given))
    .action(
      (machine: string, set: readonly (readonly [string, string])[] = [], { remove = [] }: { remove?: string[] }) =>
        labelMachine(machine, { set, remove }, context()),
    );
  machines
    .command('rotate')
    .description('ask a machine for a new credential; the old one counts until the new one has succeeded')
    .addArgument(machineArgument())
    .action((machine: string) => rotateMachine(machine, context()));
  machines
    .command('request-log')
    .description('ask a machine for the last lines of its agent’s log; a stopped one is waited for')
    .addArgument(machineArgument())
    .action((machine: string) => requestLog(machine, context()));
  machines
    .command('log')
    .description('print the lines that came for the newest request')
    .addArgument(machineArgument())
    .action((machine: string) => showLog(machine, context()));
  machines
    .command('delete')
    .description('delete a machine: its credential never works again')
    .addArgument(machineArgument())
    .option('--yes', 'do not ask')
    .action((machine: string, options: { yes?: boolean }) => deleteMachine(machine, options, context()));
  withFilter(machines.command('watch').description('show changes as they come, until Ctrl-C')).action(
    (filter: Filter) => watchMachines(filter, context()),
  );

  program
    .command('history')
    .description('everything that is recorded about a machine, in order')
    .addArgument(machineArgument())
    .addOption(
      new Option('--from <time>', 'nothing that was recorded before, in UTC unless it has an offset')
        .argParser(pointInTime)
        .conflicts('credentials'),
    )
    .option('--to <time>', 'nothing that was recorded later', pointInTime)
    .option('--credentials', 'what became of each generation of its credential, and how often each was used')
    .addOption(
      new Option('--limit <lines>', 'only so many lines, the newest; quicker')
        .argParser(upTo(1_000))
        .conflicts(['from', 'to', 'credentials']),
    )
    .action((machine: string, options: WantedHistory) => showHistory(machine, options, context()));

  program
    .command('blockers')
    .description('what keeps machines that are yours from taking work, and who can fix it')
    .option('--all', 'the whole catalogue, also what stands on no machine')
    .action((options: { all?: boolean }) => listBlockers(options, context()));
  program
    .command('readiness')
    .description('what has kept a machine from taking work, and for how long, the newest first')
    .addArgument(machineArgument())
    .option('--limit <episodes>', 'at most so many, the newest', upTo(500), 100)
    .action((machine: string, options: { limit: number }) => showReadiness(machine, options, context()));

  const webhooks = program
    .command('webhooks')
    .description('programs that are told what happens to machines that are yours');
  webhooks
    .command('list', { isDefault: true })
    .description('who is told what, and how each gets on with its receiver (the default)')
    .action(() => listWebhooks(context()));
  webhooks
    .command('add')
    .description('tell a program from now on; the secret alone goes to standard output, once')
    .argument('<url>', 'https://…; one that is typed here stays in the history of the shell', given)
    .requiredOption('--events <types>', `what to tell it, of: ${SUBSCRIBABLE.join(', ')}`, wordsOf(SUBSCRIBABLE))
    .option('--promised-only', 'of silences, only those that break a promise')
    .action((url: string, wanted: NewWebhook) => addWebhook(url, wanted, context()));
  webhooks
    .command('remove')
    .description('tell it nothing more, and forget its address and secrets')
    .addArgument(webhookArgument())
    .option('--yes', 'do not ask')
    .action((webhook: string, options: { yes?: boolean }) => removeWebhook(webhook, options, context()));
  for (const [verb, description] of [
    ['test', 'send it a notice of the type webhook.test'],
    ['pause', 'send it nothing until it is resumed; what happens meanwhile waits'],
    ['resume', 'send to it again, whether a person or its own failures had stopped it'],
  ] as const)
    webhooks
      .command(verb)
      .description(description)
      .addArgument(webhookArgument())
      .action((webhook: string) => tellWebhook(verb)(webhook, context()));
  webhooks
    .command('roll-secret')
    .description(
      'make another secret; it alone goes to standard output, once, and the one before is valid for 24 hours more',
    )
    .addArgument(webhookArgument())
    .action((webhook: string) => rollSecret(webhook, context()));
  webhooks
    .command('deliveries')
    .description('what it was told, and what became of it, the newest first')
    .addArgument(webhookArgument())
    .addOption(new Option('--state <state>', 'only these').choices(['waiting', 'delivered', 'failed']))
    .addOption(new Option('--type <type>', 'only these').choices(SENT_TYPES))
    .option('--limit <deliveries>', 'at most so many, the newest', upTo(10_000), 100)
    .action((webhook: string, filter: DeliveryFilter) => listDeliveries(webhook, filter, context()));
  webhooks
    .command('replay')
    .description('send it again what was sent, under the same ids')
    .addArgument(webhookArgument())
    .option('--event <id>', 'one delivery', eventId)
    .option('--from <time>', 'what happened from then on, in UTC unless it has an offset', pointInTime)
    .option('--to <time>', 'and before then', pointInTime)
    .option('--types <types>', 'only these types, with commas between them', wordsOf(SENT_TYPES))
    .action((webhook: string, replay: Replay) => replayDeliveries(webhook, replay, context()));

  program
    .command('why')
    .description('why a machine is what it is, in one sentence, and what that rests on')
    .addArgument(machineArgument())
    .option('--at <time>', 'what it was at this time of the past, in UTC unless it has an offset', pointInTime)
    .action((machine: string, options: { at?: string }) => explain(machine, options, context()));

  const promises = program
    .command('promises')
    .description('when which machines are promised to be there: only against a promise is an absence an alarm');
  promises
    .command('list', { isDefault: true })
    .description('what you have promised (the default)')
    .action(() => listPromises(context()));
  withSubject(
    promises
      .command('set')
      .description('promise presence; the own promise of a machine counts more than those of its labels')
      .argument('<schedule...>', 'always, none, or days, a window and a time zone: weekdays 09:00-18:00 Europe/Berlin'),
  ).action((words: readonly string[], subject: Subject) => makePromise(words, subject, context()));
  withSubject(promises.command('remove').description('take a promise back')).action((subject: Subject) =>
    withdrawPromise(subject, context()),
  );

  const readModels = program.command('read-models').description('the views that follow the record');
  readModels
    .command('status', { isDefault: true })
    .description('how far each has followed (the default)')
    .action(() => showReadModels(context()));
  readModels
    .command('rebuild')
    .description('empty one and let it follow the record from the start')
    .argument('<name>', 'its name in `read-models status`', given)
    .action((name: string) => rebuildReadModel(name, context()));

  program
    .command('ssh-check')
    .description('hold an SSH session, show whether it answers, and say within a minute when it is lost')
    .argument('<destination>', '[user@]host[:port], or a name of your ssh configuration', given)
    .option('-p, --port <port>', 'in place of that of the configuration', upTo(65_535))
    .option('-i, --identity <file>', 'a private key to try first; may be given more than once', collect(given))
    .option('-F, --ssh-config <file>', 'in place of your ssh configuration', given)
    .option('--accept-host-key <fingerprint>', 'pin the key that has this fingerprint, SHA256:…', collect(fingerprint))
    .action((destination: string, options: SshCheckOptions) => sshCheck(destination, options, context()));

  program
    .command('version')
    .description('print the version of this tool')
    .action(() => {
      const { output } = context();
      if (output.asJson) output.json({ version: VERSION });
      else output.line(VERSION);
    });

  return program;
};

/** commander's `error: unknown option '--x'` as a sentence. */
const sentence = (text: string): string => {
  const trimmed = text.replace(/^error: /, '').trim();
  const spoken = `${trimmed.charAt(0).toUpperCase()}${trimmed.slice(1)}`;
  return `${/[.?!)]$/.test(spoken) ? spoken : `${spoken}.`}\n`;
};
