import { Transform } from 'class-transformer';
import { ValidateBy, type ValidationArguments } from 'class-validator';

const POINT_IN_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/;

/** A time with its offset (RFC 3339), read to the millisecond in UTC: without one, two clocks would read it differently. */
export const IsPointInTime = (): PropertyDecorator => (target, property) => {
  Transform(({ value }: { value: unknown }) => utcOf(value) ?? value)(target, property);
  ValidateBy({
    name: 'isPointInTime',
    validator: {
      validate: (value: unknown) => utcOf(value) !== null,
      defaultMessage: () => '$property must be a time with its offset (RFC 3339), such as 2026-11-29T14:02:10Z',
    },
  })(target, property);
};

/** A time that is not before the one in another property, where that has one. */
export const IsNotBefore = (other: string): PropertyDecorator =>
  ValidateBy({
    name: 'isNotBefore',
    validator: {
      validate: (value: unknown, { object }: ValidationArguments) => {
        const [begin, end] = [utcOf((object as Record<string, unknown>)[other]), utcOf(value)];
        // What is no time at all is told of by its own rule.
        return begin === null || end === null || begin <= end;
      },
      defaultMessage: () => `$property must not be before ${other}`,
    },
  });

const utcOf = (value: unknown): string | null => {
  if (typeof value !== 'string' || !POINT_IN_TIME.test(value)) return null;
  const instant = Date.parse(value);
  return Number.isNaN(instant) ? null : new Date(instant).toISOString();
};
