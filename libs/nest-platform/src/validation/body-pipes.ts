import { ValidationPipe, type ValidationError } from '@nestjs/common';
import { Refusal } from '@rollcall/decider';

/** The most that one refusal names. */
export const MOST_ERRORS = 20;

const flatten = (errors: readonly ValidationError[], prefix = ''): { field: string; message: string }[] =>
  errors.flatMap(({ property, constraints = {}, children = [] }) => {
    const field = `${prefix}${property}`;
    return [...Object.values(constraints).map((message) => ({ field, message })), ...flatten(children, `${field}.`)];
  });

/** The refusal that names what is wrong with a body, field by field; the values are not repeated. */
export const invalidBody = (errors: readonly ValidationError[]): Refusal =>
  new Refusal('invalid-body', { errors: flatten(errors).slice(0, MOST_ERRORS) });

const bodyPipe = (forbidUnknown: boolean): ValidationPipe =>
  new ValidationPipe({
    transform: true,
    whitelist: true,
    forbidNonWhitelisted: forbidUnknown,
    validationError: { target: false, value: false },
    exceptionFactory: invalidBody,
  });

/** For what people and tools send: a field that we do not know is a mistake that should be told. */
export const STRICT_BODY = bodyPipe(true);

/** For what machines send: a newer agent's fields are dropped, because they must not cost it its liveness (C11). */
export const TOLERANT_BODY = bodyPipe(false);
