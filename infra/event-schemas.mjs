// `npm run event-schemas [-- --check]`: writes docs/schemas, the JSON Schemas of what subscribers get, from the types of the ledger
// events and of the message around them; with --check compares them and ends with 1 where they are not up to date.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureInstalled, root } from './ensure-installed.mjs';

await ensureInstalled(import.meta.url);
const { createGenerator } = await import('ts-json-schema-generator');
const prettier = await import('prettier');
const { isWithheld } = await import('../libs/relay/src/withheld.ts');

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';
const ENVELOPE = 'rollcall.event.v1.json';
const directory = join(root, 'docs/schemas');

/** The ledger events of each category: the file and the type that lists them. */
const CATEGORIES = {
  machine: ['libs/machine/src/facts.ts', 'MachineEvent'],
  refusals: ['libs/machine/src/facts.ts', 'RefusalEvent'],
  token: ['libs/admission/src/facts.ts', 'TokenEvent'],
  code: ['libs/admission/src/facts.ts', 'CodeEvent'],
  login: ['libs/admission/src/login-facts.ts', 'LoginEvent'],
  person: ['libs/person/src/facts.ts', 'PersonEvent'],
  automation: ['libs/person/src/automation-facts.ts', 'AutomationEvent'],
  people: ['libs/person/src/people-facts.ts', 'PeopleEvent'],
  workspace: ['libs/person/src/workspace-facts.ts', 'WorkspaceEvent'],
  memberships: ['libs/person/src/workspace-facts.ts', 'MembershipEvent'],
  promises: ['libs/promise-book/src/facts.ts', 'PromiseEvent'],
  webhook: ['libs/webhook-endpoint/src/facts.ts', 'WebhookEndpointEvent'],
};

/** The schemas of the types that a file exports, by name. */
const definitionsIn = (path) =>
  createGenerator({
    path: join(root, path),
    tsconfig: join(root, 'tsconfig.json'),
    type: '*',
    expose: 'all',
    skipTypeCheck: true,
    // What is added later does not make an event invalid for those who do not know it.
    additionalProperties: true,
  }).createSchema('*').definitions;

const whole = (type) => (type === 'number' ? 'integer' : type);

/** A schema without references, integers for numbers (no recorded body holds another one), and what is withheld left out. */
const settled = (schema, definitions) => {
  if (Array.isArray(schema)) return schema.map((each) => settled(each, definitions));
  if (typeof schema !== 'object' || schema === null) return schema;
  if (schema.$ref) {
    const { $ref, ...beside } = schema;
    return settled({ ...definitions[decodeURIComponent($ref.slice('#/definitions/'.length))], ...beside }, definitions);
  }
  const { type, properties, required, ...rest } = schema;
  const isKept = (name) => !isWithheld(name);
  return {
    ...(type && { type: Array.isArray(type) ? type.map(whole) : whole(type) }),
    ...Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, settled(value, definitions)])),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).flatMap(([name, value]) =>
          isKept(name) ? [[name, settled(value, definitions)]] : [],
        ),
      ),
    }),
    ...(required && { required: required.filter(isKept).toSorted() }),
  };
};

const envelope = () => {
  const definitions = definitionsIn('libs/relay/src/messages.ts');
  const { properties, ...rest } = definitions.EventMessage;
  // Any object; the schemas of the events say more.
  const body = { type: ['object', 'null'], description: properties.body.description };
  const schema = settled({ ...rest, properties: { ...properties, body } }, definitions);
  return { $schema: DIALECT, $id: ENVELOPE, title: 'A ledger event', ...schema };
};

const eventsOf = ([category, [path, list]]) => {
  const definitions = definitionsIn(path);
  const { anyOf, $ref } = definitions[list];
  return (anyOf ?? [{ $ref }]).map((each) => {
    const { description, properties, required } = settled(each, definitions);
    const { type, ...body } = properties;
    const subject = `rollcall.${category}.${type.const}`;
    return {
      $schema: DIALECT,
      $id: `${subject}.v1.json`,
      title: subject,
      description,
      allOf: [{ $ref: ENVELOPE }],
      properties: {
        category: { const: category },
        type: { const: type.const },
        body: {
          type: ['object', 'null'],
          properties: body,
          required: required.filter((name) => name !== 'type'),
        },
      },
      required: ['category', 'type', 'body'],
    };
  });
};

const schemas = [envelope(), ...Object.entries(CATEGORIES).flatMap(eventsOf)];
const settings = await prettier.resolveConfig(join(root, 'package.json'));
const files = new Map();
for (const schema of schemas)
  files.set(schema.$id, await prettier.format(JSON.stringify(schema), { ...settings, parser: 'json' }));

mkdirSync(directory, { recursive: true });
const isCurrent = (name) =>
  existsSync(join(directory, name)) && readFileSync(join(directory, name), 'utf8') === files.get(name);
const stale = [...files.keys()].filter((name) => !isCurrent(name));
const gone = readdirSync(directory).filter((name) => !files.has(name));
if (process.argv.includes('--check')) {
  for (const name of [...stale, ...gone])
    process.stderr.write(`docs/schemas/${name} is not what the types say; run "npm run event-schemas"\n`);
  process.exitCode = stale.length + gone.length > 0 ? 1 : 0;
} else {
  for (const name of stale) writeFileSync(join(directory, name), files.get(name));
  for (const name of gone) rmSync(join(directory, name));
}
