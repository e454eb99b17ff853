/**
 * What a terminal or a reader's eye obeys instead of showing: control characters (C0, DEL, C1), bidirectional and other format
 * characters, line and paragraph separators, lone surrogates. The two joiners stay: scripts and emoji need them to be read at all.
 */
const UNPRINTABLE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

const asEscapes = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, unit) => `\\u${character.charCodeAt(unit).toString(16).padStart(4, '0')}`,
  ).join('');

/** A text from somewhere else, safe to print: what would act on a terminal is shown as `\u001b` instead. */
export const printable = (text: string): string => text.replace(UNPRINTABLE, asEscapes);

/** A value as one JSON document that has the same meaning to a parser and is safe to print: `\u001b` here is JSON's own escape. */
export const printableJson = (value: unknown, indent?: number): string => {
  const text = JSON.stringify(value, null, indent) ?? 'null';
  // The only raw control character that JSON.stringify writes is the line feed between indented members.
  return text
    .split('\n')
    .map((line) => printable(line))
    .join('\n');
};
