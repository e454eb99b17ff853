import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually, openHandles } from '../../../test/support/processes.js';
import { destinationTo, OperatorSide } from '../../../test/support/ssh-dialing.js';
import { LOGGED, newHostKeys, startSshd, type TestSshd } from '../../../test/support/sshd.js';
import { TcpProxy } from '../../../test/support/tcp-proxy.js';
import {
  fingerprintOf,
  HostKeyChanged,
  HostKeyUnknown,
  hostKeyOf,
  NotAuthenticated,
  PinStoreUnusable,
} from './index.js';

let leaked: ReturnType<typeof openHandles>;
let sshd: TestSshd;
let bastion: TestSshd;

beforeAll(async () => {
  leaked = openHandles();
  [sshd, bastion] = await Promise.all([startSshd(), startSshd()]);
});
afterAll(async () => {
  await Promise.all([sshd.close(), bastion.close()]);
  expect(await leaked()).toEqual([]);
});

/** The fingerprint as it stands in `ssh-keygen`'s public form of the key. */
const printed = ({ public: text }: { readonly public: string }) =>
  fingerprintOf(hostKeyOf(Buffer.from(text.split(' ')[1] ?? '', 'base64')));

/** What a server has seen of somebody who may not have been let in. */
const seenBy = (server: TestSshd) => ({
  attempts: server.count(LOGGED.attempt),
  commands: server.count(LOGGED.command),
});

const refusalOf = (dialled: Promise<unknown>): Promise<Error> =>
  dialled.then(
    () => new Error('It was dialled'),
    (error: Error) => error,
  );

const throughBastion = () => destinationTo(sshd, { bastion: destinationTo(bastion, { pinName: 'bastion' }) });

describe('first contact', () => {
  it('asks a person between two dials, and nothing is sent to authenticate before there is a yes (C30, O9)', async () => {
    await using side = await OperatorSide.make();
    const before = seenBy(sshd);
    const connections = sshd.count(LOGGED.connection);
    let say = (_yes: boolean) => {};
    side.answer = new Promise((resolve) => {
      say = resolve;
    });
    const dialled = side.dial(destinationTo(sshd));
    await eventually('the person is asked', () => Promise.resolve(side.questions.length > 0));
    const [question] = side.questions;
    expect(question && fingerprintOf(question.presented)).toBe(printed(sshd.hostKeys.ed25519));
    // Nobody is connected while the person thinks, however long that takes.
    await sshd.logged(LOGGED.end, connections + 1);
    expect(seenBy(sshd)).toEqual(before);
    say(true);
    expect((await (await dialled).exec('echo in')).stdout).toBe('in\n');
    expect(sshd.count(LOGGED.connection)).toBe(connections + 2);
  });

  it('ends where the person says no, and asks again the next time (C30, O9)', async () => {
    await using side = await OperatorSide.make();
    side.answer = false;
    const before = seenBy(sshd);
    for (let times = 0; times < 2; times += 1) {
      const refusal = await refusalOf(side.dial(destinationTo(sshd)));
      expect(refusal).toBeInstanceOf(HostKeyUnknown);
      expect(refusal.message).toContain(printed(sshd.hostKeys.ed25519));
    }
    expect(seenBy(sshd)).toEqual(before);
    expect(side.questions).toHaveLength(2);
  });

  it('asks for the bastion, then for the host behind it, each once and never again (C30)', async () => {
    await using side = await OperatorSide.make();
    await side.dial(throughBastion());
    expect(side.questions.map(({ host }) => host)).toEqual(['bastion', 'behind-bastion']);
    await side.dial(throughBastion());
    expect(side.questions).toHaveLength(2);
  });

  it('says of a host behind a bastion that presents the bastion’s own key whose key that is (C30)', async () => {
    await using side = await OperatorSide.make();
    await side.dial(destinationTo(sshd, { bastion: destinationTo(sshd, { pinName: 'bastion' }) }));
    expect(side.questions.map(({ host, sameAs }) => [host, sameAs])).toEqual([
      ['bastion', null],
      ['behind-bastion', 'bastion'],
    ]);
  });

  it('is asked about once: a host that has another key at the second dial is left (C30)', async () => {
    await using side = await OperatorSide.make();
    const known = sshd.hostKeys;
    side.answer = (async () => {
      await eventually('the person is asked', () => Promise.resolve(side.questions.length > 0));
      await sshd.restart(['ed25519', 'rsa'], newHostKeys());
      return true;
    })();
    try {
      const before = seenBy(sshd);
      expect(await refusalOf(side.dial(destinationTo(sshd)))).toBeInstanceOf(HostKeyChanged);
      expect([side.questions.length, seenBy(sshd)]).toEqual([1, before]);
    } finally {
      await sshd.restart(['ed25519', 'rsa'], known);
    }
  });

  it('pins nothing in place of a key that somebody else confirmed while the person was asked (C30)', async () => {
    await using side = await OperatorSide.make();
    const another = { type: 'ssh-ed25519', blob: Buffer.from('another').toString('base64') };
    side.answer = (async () => {
      await eventually('the person is asked', () => Promise.resolve(side.questions.length > 0));
      await side.pins.pin('test-host', another, null, new Date());
      return true;
    })();
    expect(await refusalOf(side.dial(destinationTo(sshd)))).toBeInstanceOf(HostKeyChanged);
    expect(await side.pins.pinOf('test-host')).toMatchObject(another);
  });

  it('leaves a record of each confirmation in a file that is the owner’s alone (C30, O30)', async () => {
    await using side = await OperatorSide.make();
    await side.dial(destinationTo(sshd));
    expect((await stat(side.pinFile)).mode & 0o777).toBe(0o600);
    expect(await side.pins.events()).toEqual([
      { at: expect.any(String), host: 'test-host', fingerprint: printed(sshd.hostKeys.ed25519), replaced: null },
    ]);
  });
});

describe('a host that is known', () => {
  /** A person who knows both hosts, and says no to whatever else comes. */
  const knowing = async (type: 'ed25519' | 'rsa' = 'ed25519') => {
    const side = await OperatorSide.make();
    for (const [name, server] of [
      ['test-host', sshd],
      ['behind-bastion', sshd],
      ['bastion', bastion],
    ] as const) {
      const [, blob = ''] = server.hostKeys[type].public.split(' ');
      await side.pins.pin(name, hostKeyOf(Buffer.from(blob, 'base64')), null, new Date());
    }
    side.answer = false;
    return side;
  };

  it('is dialled without a question, by the pinned one of its keys (C30)', async () => {
    for (const type of ['ed25519', 'rsa'] as const) {
      await using side = await knowing(type);
      const link = await side.dial(throughBastion());
      expect((await link.exec('true')).code).toBe(0);
      expect(side.questions).toEqual([]);
    }
  });

  it.each([
    ['another key', sshdWith(['ed25519'])],
    ['a key of another type only', sshdWith(['rsa'])],
  ])(
    'that presents %s is left before anything is sent to authenticate, and both fingerprints are named (C30)',
    async (_what, change) => {
      await using side = await knowing();
      const known = sshd.hostKeys;
      const presented = await change();
      try {
        const before = seenBy(sshd);
        const refusal = await refusalOf(side.dial(destinationTo(sshd)));
        expect(refusal).toBeInstanceOf(HostKeyChanged);
        expect(refusal.message).toContain(printed(known.ed25519));
        expect(refusal.message).toContain(presented);
        expect(seenBy(sshd)).toEqual(before);
        expect(await side.pins.pinOf('test-host')).toMatchObject({ type: 'ssh-ed25519' });
      } finally {
        await sshd.restart(['ed25519', 'rsa'], known);
      }
    },
  );

  /** Lets the server present other keys; resolves to the fingerprint that is then seen. */
  function sshdWith(types: readonly ('ed25519' | 'rsa')[]) {
    return async () => {
      const others = newHostKeys();
      await sshd.restart(types, others);
      return printed(others[types[0] ?? 'ed25519']);
    };
  }

  it('behind a bastion whose key has changed is not reached at all (C30)', async () => {
    await using side = await knowing();
    const known = bastion.hostKeys;
    await bastion.restart(['ed25519', 'rsa'], newHostKeys());
    try {
      const before = [seenBy(sshd), seenBy(bastion), sshd.count(LOGGED.connection)];
      const refusal = await refusalOf(side.dial(throughBastion()));
      expect(refusal).toBeInstanceOf(HostKeyChanged);
      expect(refusal.message).toContain('bastion');
      expect([seenBy(sshd), seenBy(bastion), sshd.count(LOGGED.connection)]).toEqual(before);
    } finally {
      await bastion.restart(['ed25519', 'rsa'], known);
    }
  });

  it.each([
    [
      'damaged',
      (file: string) => writeFile(file, '{"version":1,"pins":{"test-host":{}},"events":[]}', { mode: 0o600 }),
    ],
    [
      'cut short',
      async (file: string) => writeFile(file, (await readFile(file, 'utf8')).slice(0, -20), { mode: 0o600 }),
    ],
    ['empty', (file: string) => writeFile(file, '', { mode: 0o600 })],
  ])('is not dialled where the file of pins is %s (C30)', async (_how, spoil) => {
    await using side = await knowing();
    await spoil(side.pinFile);
    const connections = sshd.count(LOGGED.connection);
    const refusal = await refusalOf(side.dial(destinationTo(sshd)));
    expect(refusal).toBeInstanceOf(PinStoreUnusable);
    expect(refusal.message).toContain('pinned host keys');
    expect(sshd.count(LOGGED.connection)).toBe(connections);
  });

  it('is not dialled where the file of pins cannot be read or is open to others (C30)', async () => {
    await using side = await OperatorSide.make();
    await mkdir(side.pinFile, { recursive: true });
    expect(await refusalOf(side.dial(destinationTo(sshd)))).toBeInstanceOf(PinStoreUnusable);
    await using other = await OperatorSide.make();
    await mkdir(dirname(other.pinFile));
    await writeFile(other.pinFile, '{"version":1,"pins":{},"events":[]}', { mode: 0o644 });
    expect(await refusalOf(other.dial(destinationTo(sshd)))).toBeInstanceOf(PinStoreUnusable);
  });

  it('is looked at again whenever the keys of the connection are changed, and goes on (C30)', async () => {
    const rekeying = await startSshd(['RekeyLimit 256K']);
    try {
      await using side = await OperatorSide.make();
      const link = await side.dial(destinationTo(rekeying));
      expect((await link.exec('head -c 900000 /dev/zero')).code).toBe(0);
      await link.probe();
      expect(rekeying.count(/rekeying in progress|SSH2_MSG_KEXINIT received/)).toBeGreaterThan(2);
    } finally {
      await rekeying.close();
    }
  });
});

describe('a dial that fails', () => {
  it('leaves nothing behind where nobody listens, where nobody answers, and where it is called off', async () => {
    await using side = await OperatorSide.make();
    await side.dial(destinationTo(sshd));
    const left = openHandles();
    expect((await refusalOf(side.dial(destinationTo(sshd, { port: 1 })))).message).toContain('ECONNREFUSED');

    await using proxy = await TcpProxy.listen({ host: '127.0.0.1', port: sshd.port });
    proxy.hold();
    for (const destination of [
      destinationTo(sshd, { port: proxy.port }),
      destinationTo(sshd, { bastion: destinationTo(sshd, { port: proxy.port }) }),
    ]) {
      const off = new AbortController();
      const dialled = refusalOf(side.dial(destination, off.signal));
      off.abort(new Error('called off'));
      expect((await dialled).message).toBe('called off');
    }
    await proxy[Symbol.asyncDispose]();
    expect(await left()).toEqual([]);
  });

  it('closes the bastion where the host behind it does not let us in (T-1.8)', async () => {
    await using side = await OperatorSide.make();
    await side.dial(throughBastion());
    const before = bastion.sessions().length;
    const refusal = await refusalOf(side.dial({ ...throughBastion(), identities: [] }));
    expect(refusal).toBeInstanceOf(NotAuthenticated);
    await eventually('the bastion is left', () => Promise.resolve(bastion.sessions().length === before));
    expect((await refusalOf(side.dial({ ...throughBastion(), port: 1 }))).message).toContain('does not reach');
    await eventually('the bastion is left', () => Promise.resolve(bastion.sessions().length === before));
  });
});
