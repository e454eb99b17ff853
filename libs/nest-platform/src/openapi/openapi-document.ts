import 'reflect-metadata';
import type { DynamicModule, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { routesOf, type DeclaredRoute } from '../access/routes.js';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';

const described = (module: Type | DynamicModule): Promise<NestFastifyApplication> =>
  NestFactory.create<NestFastifyApplication>(module, new FastifyAdapter(), {
    preview: true,
    logger: false,
    abortOnError: false,
  });

/** The routes of a module, as its router has them and each with its action. Nothing is instantiated here either. */
export const describedRoutes = async (module: Type | DynamicModule): Promise<DeclaredRoute[]> =>
  routesOf(await described(module));

/** The OpenAPI document of a module's routes. Nothing of the module is instantiated: no database, no port, no timer. */
export const openApiDocument = async (
  module: Type | DynamicModule,
  {
    title,
    description,
    version,
    bearers,
  }: { title: string; description: string; version: string; bearers: readonly string[] },
): Promise<OpenAPIObject> => {
  const app = await described(module);
  const builder = new DocumentBuilder().setTitle(title).setDescription(description).setVersion(version);
  for (const bearer of bearers) builder.addBearerAuth({ type: 'http', scheme: 'bearer' }, bearer);
  return SwaggerModule.createDocument(app, builder.build(), { operationIdFactory: (_controller, method) => method });
};
