// Gives the role of the services the password that they have in their volume; the migrations made the role without one.
import { readFileSync } from 'node:fs';
import pg from 'pg';

const password = readFileSync('/secrets/database-app/password', 'utf8');
const client = new pg.Client({ connectionString: process.env.ROLLCALL_DATABASE_URL });
await client.connect();
await client.query(`alter role rollcall_app login password ${client.escapeLiteral(password)}`);
await client.end();
