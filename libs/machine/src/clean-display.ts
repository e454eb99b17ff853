// Control characters (C0, DEL, C1), lone surrogates, line and paragraph separators, and the marks, overrides and isolates that
// reorder what stands beside them on a screen.
const UNSHOWABLE = /[\p{Cc}\p{Cs}\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/gu;

/**
 * Makes a text that a machine sent fit to store and to show; null when nothing is left or it is no text. A bad display field never
 * costs liveness, so this never refuses (C11). `maxLength` counts code points.
 */
export const cleanDisplay = (text: unknown, maxLength: number): string | null => {
  if (typeof text !== 'string') return null;
  const shown = text.replace(UNSHOWABLE, '').trim();
  return Array.from(shown).slice(0, maxLength).join('').trim() || null;
};
