import { isLabelValue, LABEL_KEY, LABEL_VALUE_LENGTH, parseLabel } from '@rollcall/machine';
import { ValidateBy, type ValidationOptions } from 'class-validator';

const KEY = '1 to 63 lower-case letters, digits, "-", ".", "_" and "/"';

/** `key=value` */
export const IsLabel = (): PropertyDecorator =>
  ValidateBy({
    name: 'isLabel',
    validator: {
      validate: (value: unknown) => typeof value === 'string' && parseLabel(value) !== null,
      defaultMessage: () => '$property must be written key=value, such as site=berlin',
    },
  });

/** The key of a label. */
export const IsLabelKey = (options?: ValidationOptions): PropertyDecorator =>
  ValidateBy(
    {
      name: 'isLabelKey',
      validator: {
        validate: (value: unknown) => typeof value === 'string' && LABEL_KEY.test(value),
        defaultMessage: () => `$property must be keys of labels: ${KEY}`,
      },
    },
    options,
  );

/** Labels by key. */
export const IsLabels = (): PropertyDecorator =>
  ValidateBy({
    name: 'isLabels',
    validator: {
      validate: (value: unknown) =>
        typeof value === 'object' &&
        value !== null &&
        !Array.isArray(value) &&
        Object.entries(value).every(([key, text]) => LABEL_KEY.test(key) && isLabelValue(text)),
      defaultMessage: () =>
        `$property must hold labels: a key has ${KEY}, a value 1 to ${LABEL_VALUE_LENGTH} characters`,
    },
  });
