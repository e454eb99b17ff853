// Makes what the containers of a plane know each other by, each kind in a volume of its own, so that no container sees what it does not
// need. What is there stays; so it may run at every start. It is root, to give everything to the user of the services.
import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The user `node` of the image. */
const USER = 1000;
const NATS_USERS = ['relay', 'projector', 'subscriber'];

const own = (volume) => {
  const path = join('/secrets', volume);
  chownSync(path, USER, USER);
  chmodSync(path, 0o700);
  return path;
};

/** Whole or not at all, and never readable by others. */
const write = (path, content) => {
  const temporary = `${path}.new`;
  writeFileSync(temporary, content, { mode: 0o600, flush: true });
  chownSync(temporary, USER, USER);
  renameSync(temporary, path);
};

const secret = (path) => {
  if (!existsSync(path)) write(path, randomBytes(32).toString('base64url'));
  return readFileSync(path, 'utf8');
};

own('authority'); // Its key is made by whichever API starts first.
secret(join(own('chain'), 'chain.key'));
secret(join(own('webhooks'), 'webhook.key'));

for (const volume of ['database-owner', 'database-app']) secret(join(own(volume), 'password'));

const server = own('nats-server');
const feed = own('feed');
own('nats-data');
const passwords = NATS_USERS.map((user) => {
  const password = secret(join(server, `${user}.password`));
  // A subscriber is a program of somebody else: the projector has no business with its password.
  write(join(user === 'subscriber' ? server : feed, `${user}.credentials`), `${user}:${password}\n`);
  return `NATS_${user.toUpperCase()}_PASSWORD: "${password}"\n`;
});
// A variable of the configuration goes before one of the environment. Made anew each time: a newer version may bring newer rights.
write(join(server, 'nats-server.conf'), passwords.join('') + readFileSync('infra/nats/nats-server.conf', 'utf8'));
