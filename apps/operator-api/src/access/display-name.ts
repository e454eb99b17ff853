import { cleanDisplay } from '@rollcall/machine';
import { Transform } from 'class-transformer';
import { ValidateBy } from 'class-validator';

/** Code points of a machine's name. */
export const NAME_LENGTH = 64;

/** A text that a person wrote: trimmed, then 1 to `longest` characters, none of them one that a screen would obey instead of showing. */
export const IsDisplayText =
  (longest: number): PropertyDecorator =>
  (target, property) => {
    Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? value.trim() : value))(target, property);
    ValidateBy({
      name: 'isDisplayText',
      validator: {
        validate: (value: unknown) =>
          typeof value === 'string' && value !== '' && cleanDisplay(value, longest) === value,
        defaultMessage: () => `$property must have 1 to ${longest} characters and no control characters`,
      },
    })(target, property);
  };

/** A name that a person chose. */
export const IsDisplayName = (): PropertyDecorator => IsDisplayText(NAME_LENGTH);
