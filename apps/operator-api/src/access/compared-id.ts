import { Transform } from 'class-transformer';
import { IsUUID } from 'class-validator';

/** A UUID that is compared as a text from here on: in lower case, however it was written. */
export const IsComparedId = (): PropertyDecorator => (target, property) => {
  Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? value.toLowerCase() : value))(
    target,
    property,
  );
  IsUUID()(target, property);
};
