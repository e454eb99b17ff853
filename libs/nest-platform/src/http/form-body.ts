import { RouteConfig } from '@nestjs/platform-fastify';
import { Refusal } from '@rollcall/decider';
import type { FastifyInstance } from 'fastify';
import { textOf } from './json-body.js';
import type { HttpLimits } from './limits.js';

/** The media type that OAuth clients send. */
export const FORM_MEDIA_TYPE = 'application/x-www-form-urlencoded';

/** Declares that a route takes a form beside JSON. The others refuse one unread: a form can be sent by a page of somebody else. */
export const TakesForm = (): MethodDecorator => RouteConfig({ takesForm: true });

/** The fields of a form, each at most once (RFC 6749, section 3.2). @throws Refusal `malformed-body` for one that comes twice. */
export const formOf = (text: string): Readonly<Record<string, string>> => {
  const fields = new Map<string, string>();
  for (const [field, value] of new URLSearchParams(text)) {
    if (fields.has(field)) throw new Refusal('malformed-body', { detail: 'A field is there more than once.' });
    fields.set(field, value);
  }
  // As JSON bodies are read: no field reaches a prototype.
  for (const field of ['__proto__', 'constructor', 'prototype']) fields.delete(field);
  return Object.fromEntries(fields);
};

/** Takes forms on the routes that declare it. */
export const acceptFormsWhereDeclared = (instance: FastifyInstance, limits: HttpLimits): void => {
  instance.addContentTypeParser<Buffer>(
    FORM_MEDIA_TYPE,
    { parseAs: 'buffer', bodyLimit: limits.bodyBytes },
    ({ routeOptions }, body, done) => {
      try {
        const { takesForm } = routeOptions.config as { readonly takesForm?: boolean };
        if (!takesForm) throw new Refusal('unsupported-type');
        done(null, formOf(textOf(body)));
      } catch (error) {
        done(error as Error);
      }
    },
  );
};
