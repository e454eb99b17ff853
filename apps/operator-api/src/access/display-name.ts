import { cleanDisplay } from '@rollcall/machine';
import { Transform } from 'class-transformer';
import { ValidateBy } from 'class-validator';

/** Code points of a machine's name. */
export const NAME_LENGTH = 64;

/** A name that a person chose: trimmed, then 1 to 64 characters, none of them one that a screen would obey instead of showing. */
export const IsDisplayName = (): PropertyDecorator => (target, property) => {
  Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? value.trim() : value))(target, property);
  ValidateBy({
    name: 'isDisplayName',
    validator: {
      validate: (value: unknown) =>
        typeof value === 'string' && value !== '' && cleanDisplay(value, NAME_LENGTH) === value,
      defaultMessage: () => `$property must have 1 to ${NAME_LENGTH} characters and no control characters`,
    },
  })(target, property);
};
