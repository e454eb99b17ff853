// `npm run schema [-- --check]`: writes infra/schema.sql, the schema that the migrations add up to, for people who review it; with
// --check compares it and ends with 1 where it is not up to date. Made from the catalogs of a freshly migrated embedded database,
// because the embedded binaries bring no pg_dump.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureInstalled, root } from './ensure-installed.mjs';

await ensureInstalled(import.meta.url);

const { build } = await import('esbuild');
const { default: pg } = await import('pg');
const target = join(root, 'infra/schema.sql');

// What the runner of the migrations needs for itself.
const RUNNER = ['kysely_migration', 'kysely_migration_lock', 'migration_hash'];

const freePort = () =>
  new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });

/** The TypeScript of two libraries, as one module beside the installed packages. */
const libraries = async () => {
  const directory = join(root, 'node_modules/.cache/rollcall');
  mkdirSync(directory, { recursive: true });
  const outfile = join(directory, `schema-${process.pid}.mjs`);
  await build({
    stdin: {
      contents: `export { EmbeddedCluster } from '@rollcall/embedded-postgres'; export { migrate } from '@rollcall/migrations';`,
      resolveDir: root,
      loader: 'ts',
    },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    conditions: ['source'],
    external: ['pg', 'pg-boss', 'kysely', 'kysely/*', '@embedded-postgres/*'],
    logLevel: 'error',
  });
  try {
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(outfile);
  }
};

/** Runs `work` on a freshly migrated database, and removes it. */
const withFreshDatabase = async (work) => {
  const { EmbeddedCluster, migrate } = await libraries();
  const directory = mkdtempSync(join(tmpdir(), 'rollcall-schema-'));
  const cluster = await EmbeddedCluster.open({ directory, port: await freePort(), settings: { fsync: 'off' } });
  try {
    await cluster.ensureDatabase('rollcall');
    await migrate({ connectionString: cluster.url('rollcall'), directory: join(root, 'infra/migrations') });
    const client = new pg.Client({ connectionString: cluster.url('rollcall') });
    await client.connect();
    try {
      return await work(async (statement, values) => (await client.query(statement, values)).rows);
    } finally {
      await client.end();
    }
  } finally {
    await cluster.stop();
    rmSync(directory, { recursive: true, force: true });
  }
};

/** Tables without their partitions: those are made per day, by a function. */
const TABLES = `
  select c.oid, c.relname as name, c.reloptions as options, case when c.relkind = 'p' then pg_get_partkeydef(c.oid) end as partition_key
  from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and c.relname <> all ($1)
  order by c.relname collate "C"`;
const COLUMNS = `
  select a.attname as name, format_type(a.atttypid, a.atttypmod) as type, a.attnotnull as not_null,
    case when a.attcollation <> t.typcollation then (select quote_ident(collname) from pg_collation where oid = a.attcollation) end as collation,
    pg_get_expr(d.adbin, d.adrelid) as default
  from pg_attribute a join pg_type t on t.oid = a.atttypid left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
  where a.attrelid = $1 and a.attnum > 0 and not a.attisdropped order by a.attnum`;
const CONSTRAINTS = `
  select conname as name, pg_get_constraintdef(oid) as definition from pg_constraint
  where conrelid = $1 and contype in ('p', 'u', 'f', 'c', 'x') order by contype = 'p' desc, contype, conname collate "C"`;
const INDEXES = `
  select pg_get_indexdef(i.indexrelid) as definition from pg_index i join pg_class c on c.oid = i.indexrelid
  where i.indrelid = $1 and not exists (select from pg_constraint where conindid = i.indexrelid) order by c.relname collate "C"`;
const TRIGGERS = `
  select tgname as name, pg_get_triggerdef(oid) as definition, tgenabled as enabled from pg_trigger
  where tgrelid = $1 and not tgisinternal order by tgname collate "C"`;
const TABLE_GRANTS = `
  select r.rolname as role, array_agg(lower(a.privilege_type) order by lower(a.privilege_type)) as privileges
  from pg_class c, aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
  where c.oid = $1 and a.grantee <> c.relowner group by r.rolname order by r.rolname collate "C"`;
const FUNCTIONS = `
  select p.oid::regprocedure::text as signature, pg_get_functiondef(p.oid) as definition,
    p.proacl is null or exists (select from aclexplode(p.proacl) where grantee = 0) as for_all,
    array(select r.rolname::text from aclexplode(p.proacl) a join pg_roles r on r.oid = a.grantee where a.grantee <> p.proowner order by 1) as roles
  from pg_proc p where p.pronamespace = 'public'::regnamespace and not exists
    (select from pg_depend where objid = p.oid and deptype = 'e') order by p.proname collate "C", 1`;

const ENABLED = { A: 'enable always trigger', R: 'enable replica trigger', D: 'disable trigger' };

const tableOf = async (rows, { oid, name, options, partition_key: partitionKey }) => {
  const columns = (await rows(COLUMNS, [oid])).map((column) =>
    [
      column.name,
      column.type,
      column.collation && `collate ${column.collation}`,
      column.not_null && 'not null',
      column.default !== null && `default ${column.default}`,
    ]
      .filter(Boolean)
      .join(' '),
  );
  const constraints = (await rows(CONSTRAINTS, [oid])).map((each) => `constraint ${each.name} ${each.definition}`);
  const triggers = await rows(TRIGGERS, [oid]);
  return [
    `create table ${name} (\n${[...columns, ...constraints].map((line) => `  ${line}`).join(',\n')}\n)` +
      (partitionKey ? ` partition by ${partitionKey}` : '') +
      (options ? ` with (${options.join(', ')})` : '') +
      ';',
    ...(await rows(INDEXES, [oid])).map(({ definition }) => `${definition};`),
    ...triggers.map(({ definition }) => `${definition};`),
    ...triggers.flatMap((trigger) =>
      ENABLED[trigger.enabled] ? [`alter table ${name} ${ENABLED[trigger.enabled]} ${trigger.name};`] : [],
    ),
    ...(await rows(TABLE_GRANTS, [oid])).map(
      ({ role, privileges }) => `grant ${privileges.join(', ')} on ${name} to ${role};`,
    ),
  ].join('\n');
};

const functionOf = ({ signature, definition, for_all: forAll, roles }) =>
  [
    `${definition.trimEnd()};`,
    ...(forAll ? [] : [`revoke all on function ${signature} from public;`]),
    ...roles.map((role) => `grant execute on function ${signature} to ${role};`),
  ].join('\n');

const schema = await withFreshDatabase(async (rows) => {
  const sections = [
    '-- Generated by `npm run schema` from the migrations; not run by anything. The daily partitions of check_in are left out.',
  ];
  for (const table of await rows(TABLES, [RUNNER])) sections.push(await tableOf(rows, table));
  for (const each of await rows(FUNCTIONS)) sections.push(functionOf(each));
  return `${sections.join('\n\n')}\n`;
});

const present = (() => {
  try {
    return readFileSync(target, 'utf8');
  } catch {
    return '';
  }
})();

if (!process.argv.includes('--check')) {
  writeFileSync(target, schema);
  process.stderr.write(`schema: wrote ${relative(root, target)}\n`);
} else if (present !== schema) {
  const [was, is] = [present.split('\n'), schema.split('\n')];
  const line = is.findIndex((text, index) => text !== was[index]);
  const at = line < 0 ? is.length : line;
  process.stderr.write(
    `schema: ${relative(root, target)} is not what the migrations make. First difference, line ${at + 1}:\n` +
      `  - ${was[at] ?? '(end)'}\n  + ${is[at] ?? '(end)'}\nRun npm run schema, look at the difference, and commit it.\n`,
  );
  process.exitCode = 1;
}
