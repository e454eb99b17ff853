/**
 * What an accepted check shows about the clock of this machine: the plane's time lies between the two own ones. All in milliseconds since
 * 1970, the own ones by the wall clock.
 */
export type ClockSighting = { readonly sentAt: number; readonly receivedAt: number; readonly serverTime: number };
