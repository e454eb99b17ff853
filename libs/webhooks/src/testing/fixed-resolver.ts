import { Resolver } from '../target.js';

/** Names and their addresses as a test says, and as it says next: a list of lists is answered one after the other, the last one for ever. */
export class FixedResolver extends Resolver {
  readonly asked: string[] = [];

  constructor(private readonly names: Record<string, readonly (readonly string[])[]>) {
    super();
  }

  override addressesOf(name: string): Promise<readonly string[]> {
    this.asked.push(name);
    const answers = this.names[name] ?? [];
    const before = this.asked.filter((asked) => asked === name).length - 1;
    const answer = answers[Math.min(before, answers.length - 1)];
    return answer ? Promise.resolve(answer) : Promise.reject(new Error(`${name} is not known`));
  }
}
