// Gives the role of the services the password that they have in their volume; the migrations made the role without one.
import { readFileSync } from 'node:fs';
import pg from 'pg';

const password = readFileSync('/secrets/database-app/password', 'utf8');
const { ROLLCALL_DATABASE_URL, ROLLCALL_DATABASE_PASSWORD_FILE } = process.env;
const owner = new URL(ROLLCALL_DATABASE_URL);
owner.password = readFileSync(ROLLCALL_DATABASE_PASSWORD_FILE, 'utf8');
const client = new pg.Client({ connectionString: owner.href });
await client.connect();
await client.query(`alter role rollcall_app login password ${client.escapeLiteral(password)}`);
await client.end();
