import { Refusal } from '@rollcall/decider';

/** The id was used for something else on this machine, so this was taken for a repetition of that, and nothing was done. */
export const anotherCommand = (): Refusal =>
  new Refusal('invalid-body', { errors: [{ field: 'commandId', message: 'is the id of another command' }] });
