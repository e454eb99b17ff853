import { RequestMethod, type INestApplicationContext } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { MetadataScanner, ModulesContainer } from '@nestjs/core';
import { ALLOWED, type PrincipalKind } from './allow.js';

/** A route of an app and who may call it; null where nobody said. */
export type DeclaredRoute = {
  readonly method: string;
  readonly path: string;
  readonly handler: string;
  readonly allowed: readonly PrincipalKind[] | null;
};

/** All routes of an app, found by walking its controllers. */
export const routesOf = (app: INestApplicationContext): DeclaredRoute[] =>
  [...app.get(ModulesContainer).values()]
    .flatMap((module) => [...module.controllers.values()])
    .flatMap(({ metatype }) => (typeof metatype === 'function' ? routesOfController(metatype) : []));

const routesOfController = (controller: Function): DeclaredRoute[] => {
  const prototype = controller.prototype as Record<string, unknown>;
  const base = Reflect.getMetadata(PATH_METADATA, controller) as string | string[];
  return new MetadataScanner().getAllMethodNames(prototype).flatMap((name) => {
    const handler = prototype[name];
    if (typeof handler !== 'function' || !Reflect.hasMetadata(PATH_METADATA, handler)) return [];
    const path = Reflect.getMetadata(PATH_METADATA, handler) as string;
    const allowed = (Reflect.getMetadata(ALLOWED, handler) ?? Reflect.getMetadata(ALLOWED, controller) ?? null) as
      readonly PrincipalKind[] | null;
    return [base].flat().map((prefix) => ({
      method: RequestMethod[Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod],
      path: `/${[prefix, path]
        .flatMap((part) => part.split('/'))
        .filter(Boolean)
        .join('/')}`,
      handler: `${controller.name}.${name}`,
      allowed,
    }));
  });
};

/** @throws Error naming every route that does not declare who may call it. */
export const requireDeclarations = (app: INestApplicationContext): void => {
  const open = routesOf(app).filter(({ allowed }) => allowed === null);
  if (open.length > 0)
    throw new Error(
      `Routes that do not declare who may call them (@Allow): ${open.map(({ method, path, handler }) => `${method} ${path} (${handler})`).join(', ')}`,
    );
};
