import type { HistoryPage } from '@rollcall/wire';
import { ask } from './ask.js';

/** A page of a machine's whole past, from the record. `after` is `start`, or the `next` of the page before. @throws as `ask` */
export const replayPage = (id: string, after: string, signal: AbortSignal): Promise<HistoryPage> =>
  ask<HistoryPage>('GET', `/v1/machines/${id}/history?after=${encodeURIComponent(after)}`, { signal });

/** How far a replay has come, in words. */
export const progressOf = ({ facts: { through, recorded } }: Pick<HistoryPage, 'facts'>): string =>
  `${through.toLocaleString()} of ${recorded.toLocaleString()} facts read`;
