/**
 * How much a test does: what every submission can afford, or all that is promised, for the nights. `ROLLCALL_TESTS=whole` chooses (`npm run
 * test:whole` sets it); it is read here and nowhere else, and docs/faults.md lists the figures of both.
 *
 * @throws Error for any other value: a slip of the pen would prove less in silence
 */
export const amount = <Quantity>({
  usual,
  whole,
}: {
  readonly usual: Quantity;
  readonly whole: Quantity;
}): Quantity => {
  const chosen = process.env['ROLLCALL_TESTS'] ?? '';
  if (chosen === '') return usual;
  if (chosen === 'whole') return whole;
  throw new Error(`ROLLCALL_TESTS is "${chosen}", and can only be "whole"`);
};

/** A number as titles have it: 1000 is 1,000. */
export const inDigits = (count: number): string => count.toLocaleString('en');
