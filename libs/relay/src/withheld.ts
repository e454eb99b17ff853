/** JSON as it is parsed. */
type Parsed = null | boolean | number | string | readonly Parsed[] | { readonly [key: string]: Parsed };

/**
 * A field whose name ends in `Hash` stays at home: whoever guesses a secret or an identifier can tell by its hash that the guess was
 * right, and no interface shows an identifier.
 */
export const isWithheld = (field: string): boolean => /hash$/i.test(field);

/** The value without the fields that stay at home, at any depth. */
export const withoutWithheld = <Value extends Parsed>(value: Value): Value => {
  if (Array.isArray(value)) return value.map((element: Parsed) => withoutWithheld(element)) as unknown as Value;
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).flatMap(([field, inner]: [string, Parsed]) =>
    isWithheld(field) ? [] : [[field, withoutWithheld(inner)]],
  );
  return Object.fromEntries(kept) as Value;
};
