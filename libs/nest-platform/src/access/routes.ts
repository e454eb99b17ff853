import { RequestMethod, type INestApplicationContext } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { MetadataScanner, ModulesContainer } from '@nestjs/core';
import type { Action } from '@rollcall/authorisation';
import { ACTION } from './action.js';

/** A route of an app and what it does; null where nobody said. */
export type DeclaredRoute = {
  readonly method: string;
  readonly path: string;
  readonly handler: string;
  readonly action: Action | null;
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
    const paths = Reflect.getMetadata(PATH_METADATA, handler) as string | string[];
    const action = (Reflect.getMetadata(ACTION, handler) ??
      Reflect.getMetadata(ACTION, controller) ??
      null) as Action | null;
    return [base].flat().flatMap((prefix) =>
      [paths].flat().map((path) => ({
        method: RequestMethod[Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod],
        path: `/${[prefix, path]
          .flatMap((part) => part.split('/'))
          .filter(Boolean)
          .join('/')}`,
        handler: `${controller.name}.${name}`,
        action,
      })),
    );
  });
};

/** @throws Error naming every route that does not declare what it does. */
export const requireDeclarations = (app: INestApplicationContext): void => {
  const open = routesOf(app).filter(({ action }) => action === null);
  if (open.length > 0)
    throw new Error(
      `Routes that do not declare what they do (@Does): ${open.map(({ method, path, handler }) => `${method} ${path} (${handler})`).join(', ')}`,
    );
};
