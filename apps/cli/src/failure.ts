/** What the process ends with. 130 is the shell's word for Ctrl-C. */
export const EXIT = { done: 0, failed: 1, usage: 2, notSignedIn: 3, notFound: 4, interrupted: 130 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** What a person is told when a command cannot do what was asked: one sentence, and what the process ends with. */
export class Failure extends Error {
  override readonly name = 'Failure';

  constructor(
    sentence: string,
    readonly exitCode: ExitCode = EXIT.failed,
    options?: ErrorOptions,
  ) {
    super(sentence, options);
  }
}

/** Ctrl-C or SIGTERM arrived while the command was waiting for something that it may leave alone. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}
