import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type {
  HostKeyQuestion,
  SessionHost,
  SessionHostPorts,
  SessionStatus,
  SshTarget,
  TransportLoss,
} from '@rollcall/ssh-session';
import type { Context } from '../context.js';
import { EXIT, Failure, Interrupted } from '../failure.js';
import { askYes } from '../session/ask.js';

/** What a person can say of the host and of themselves; nothing about time. */
export type SshCheckOptions = {
  /** Fingerprints that the person has learned another way; a script has no other way to say yes. */
  readonly acceptHostKey?: readonly string[];
  readonly port?: number;
  readonly identity?: readonly string[];
  readonly sshConfig?: string;
};

/** How a session is opened; a test has one of its own. */
export type OpenHost = (
  ports: Pick<SessionHostPorts, 'farSide' | 'metadata' | 'log'>,
  confirm: (question: HostKeyQuestion) => Promise<boolean>,
) => SessionHost | Promise<SessionHost>;

const ID = 'ssh-check';
const LOOK_EVERY_MS = 1_000;

/**
 * `rollcall ssh-check [user@]host[:port]`: holds a session as the data plane would, shows whether it answers, and ends when it is lost or
 * when the person has seen enough. It runs nothing there and leaves nothing behind, here or there.
 */
export const sshCheck = async (
  words: string,
  options: SshCheckOptions,
  context: Context,
  open: OpenHost = (ports, confirm) => openOverSsh(ports, confirm, options, context),
): Promise<void> => {
  const { output, surroundings } = context;
  const target = await targetOf(words, options);
  const losses: TransportLoss[] = [];
  const host = await open(
    {
      farSide: nothingToDo,
      metadata: nothingKept,
      log: { warn: (_, loss) => void losses.push(loss), debug: () => {} },
    },
    (question) => confirmKey(question, options, context),
  );
  // A near end that nobody else can reach, and that goes with us.
  const place = surroundings.env['TMPDIR'] || tmpdir();
  const directory = await mkdtemp(join(place, 'rollcall-ssh-')).catch((cause: Error) => {
    throw new Failure(`There is no place for a socket in ${place} (TMPDIR): ${cause.message}.`, EXIT.failed, { cause });
  });
  const remove = () => rmSync(directory, { recursive: true, force: true });
  // Where nobody reads what is said any more, the process ends without coming back here.
  process.once('exit', remove);
  const giveUp = () => void host.close();
  surroundings.signal.addEventListener('abort', giveUp);
  if (surroundings.signal.aborted) giveUp();
  try {
    const near = { kind: 'unix', path: join(directory, 'near.sock') } as const;
    const session = await host.launch({ id: ID, target, near, farSocketPath: FAR_SOCKET }).catch(asFailure);
    if (output.asJson) output.json({ event: 'connected', host: words }, 'line');
    else output.line(`${words}: connected. Ctrl-C ends the check.`);
    await follow(host, session.lost, words, context);
    await host.stop(ID);
    tellLoss(words, losses[0], context);
  } finally {
    surroundings.signal.removeEventListener('abort', giveUp);
    output.progress(null);
    await host.close();
    remove();
    process.off('exit', remove);
  }
};

/** What a forward of this check would lead to; nobody uses it. */
const FAR_SOCKET = '/run/rollcall-agent/files.sock';

const nothingToDo: SessionHostPorts['farSide'] = {
  cleanUp: () => Promise.resolve(),
  stopFarSide: () => Promise.resolve(),
  checkPlane: () => Promise.resolve(),
};

/** A check is not resumed. */
const nothingKept: SessionHostPorts['metadata'] = {
  remember: () => Promise.resolve(),
  recall: () => Promise.resolve(null),
  forget: () => Promise.resolve(),
};

/** Loaded only here: no other command needs an SSH client. */
const openOverSsh = async (
  ports: Pick<SessionHostPorts, 'farSide' | 'metadata' | 'log'>,
  confirm: (question: HostKeyQuestion) => Promise<boolean>,
  { identity = [], sshConfig }: SshCheckOptions,
  { surroundings: { env }, sessions }: Context,
): Promise<SessionHost> => {
  const { openSessionHost, PinStore, resolveDestination, sshDial } = await import('@rollcall/ssh-session');
  const dial = sshDial({
    pins: new PinStore(sessions.beside('ssh-host-keys.json')),
    resolve: (target, signal) => resolveDestination(target, { env, identities: identity, file: sshConfig, signal }),
    confirm,
  });
  return openSessionHost({ ...ports, dial });
};

const targetOf = async (words: string, { port }: SshCheckOptions): Promise<SshTarget> => {
  const { parseTarget } = await import('@rollcall/ssh-session');
  try {
    return { ...parseTarget(words), ...(port === undefined ? {} : { port }) };
  } catch (cause) {
    throw new Failure(`${(cause as Error).message}.`, EXIT.usage, { cause });
  }
};

const asFailure = (cause: unknown): never => {
  const { code, message } = cause as { code?: unknown; message: string };
  if (code === 'host-closed') throw new Interrupted('interrupted', { cause });
  // A name with several addresses fails with one error for each, and no words of its own.
  const sentence = message || ((cause as AggregateError).errors as Error[] | undefined)?.[0]?.message || String(cause);
  throw new Failure(/[.?!]$/.test(sentence) ? sentence : `${sentence}.`, EXIT.failed, { cause });
};

/** Whether the key of a host is pinned. Where nobody can be asked, only a fingerprint that was given says yes. */
const confirmKey = async (
  { host, presented, pinned, sameAs = null }: HostKeyQuestion,
  { acceptHostKey = [] }: SshCheckOptions,
  { output, surroundings }: Context,
): Promise<boolean> => {
  const { fingerprintOf } = await import('@rollcall/ssh-session');
  const fingerprint = fingerprintOf(presented);
  const before = pinned && fingerprintOf(pinned);
  if (output.asJson)
    output.json({ event: 'host-key', host, type: presented.type, fingerprint, pinned: before }, 'line');
  if (sameAs !== null)
    output.note(`${host} presents the key of ${sameAs}, which is in between and may be answering in its place.`);
  // Named for the host in between, it says nothing of the one behind it.
  if (sameAs === null && acceptHostKey.includes(fingerprint)) {
    if (!output.asJson) output.note(`The key ${fingerprint} of ${host} was accepted, and is expected from now on.`);
    return true;
  }
  if (pinned === null && surroundings.stdin.isTTY === true && !output.asJson) {
    output.note(`${host} is met for the first time. Its key (${presented.type}) has the fingerprint`);
    output.note(`  ${fingerprint}`);
    output.note(`Compare it with what the host itself shows: ssh-keygen -lf ${usualFileOf(presented.type)}`);
    return askYes('Is it the same? Only "yes" goes on: ', surroundings);
  }
  if (sameAs === null)
    output.note(`If you know that this is the key of ${host}, say so: --accept-host-key ${fingerprint}`);
  return false;
};

/** Where a host has its public key of a type, if nobody has moved it. */
const usualFileOf = (type: string): string =>
  `/etc/ssh/ssh_host_${['rsa', 'ecdsa'].find((name) => type.includes(name)) ?? 'ed25519'}_key.pub`;

/** Shows what is known of the session until it is lost. @throws Interrupted on Ctrl-C, with the session stopped. */
const follow = async (host: SessionHost, lost: AbortSignal, words: string, context: Context): Promise<void> => {
  const { surroundings } = context;
  const { signal, pause } = surroundings;
  const either = AbortSignal.any([signal, lost]);
  let before: SessionStatus | null = null;
  while (!lost.aborted) {
    const status = host.status(ID);
    if (status) tell(words, before, status, context);
    before = status;
    await pause(LOOK_EVERY_MS, either).catch(() => undefined);
    if (!signal.aborted) continue;
    await host.stop(ID);
    throw new Interrupted('interrupted');
  }
};

const seconds = (milliseconds: number | null): number => Math.floor((milliseconds ?? 0) / 1_000);

const tell = (words: string, before: SessionStatus | null, now: SessionStatus, { output, surroundings }: Context) => {
  const { state, roundTrip, silence } = now;
  const isReply = before !== null && roundTrip !== null && (silence ?? 0) < (before.silence ?? 0);
  const isChange = before !== null && before.state !== state;
  const answers = roundTrip === null ? 'no answer yet' : `answered in ${roundTrip} ms`;
  const line = `${words}: ${answers}, silent for ${seconds(silence)} s`;
  const event = state === 'unresponsive' ? 'unresponsive' : 'answer';
  if (output.asJson) {
    if (isReply || isChange) output.json({ event, roundTripMs: roundTrip, silenceMs: silence }, 'line');
  } else if (output.interactive && surroundings.stderr.isTTY === true) {
    output.progress(state === 'unresponsive' ? `${line}: it does not answer` : line);
  } else if (isReply || isChange) {
    output.line(state === 'unresponsive' ? `${words}: no answer for ${seconds(silence)} s` : line);
  }
};

const tellLoss = (words: string, loss: TransportLoss | undefined, { output }: Context): never => {
  output.progress(null);
  const silenceMs = loss?.silence ?? null;
  const failed = Object.values(loss?.failedCloses ?? {});
  if (output.asJson)
    output.json({ event: 'lost', cause: loss?.cause ?? null, silenceMs, failedCloses: failed }, 'line');
  const why = loss?.cause === 'silence' ? `no answer for ${seconds(silenceMs)} s` : 'it ended';
  throw new Failure(`The connection to ${words} is lost: ${why}.`);
};
