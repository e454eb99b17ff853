import ssh2, { type utils } from 'ssh2';

/** A key pair in OpenSSH's own form. */
export type KeyPair = ReturnType<typeof utils.generateKeyPairSync>;

/** Makes a key pair. Of those that ssh2 makes, one in some three hundred is malformed, and its own parser says so: it is made again. */
export const makeKeyPair = (type: 'ed25519' | 'rsa'): KeyPair => {
  for (;;) {
    const pair =
      type === 'rsa'
        ? ssh2.utils.generateKeyPairSync('rsa', { bits: 2_048, comment: 'test' })
        : ssh2.utils.generateKeyPairSync('ed25519', { comment: 'test' });
    if (!(ssh2.utils.parseKey(pair.private) instanceof Error)) return pair;
  }
};
