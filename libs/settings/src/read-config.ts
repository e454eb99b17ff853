/** Where settings come from; tests pass their own. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The environment does not say what the app needs. One message names everything that is wrong with it. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(readonly problems: readonly string[]) {
    super(`The configuration is not usable:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
  }
}

type NumberRange = { readonly min: number; readonly max: number; readonly default?: number };

/** Reads settings one by one and remembers every problem instead of stopping at the first. An empty variable counts as absent. */
export class EnvironmentReader {
  readonly problems: string[] = [];

  constructor(private readonly environment: Environment) {}

  /** Any text; required without a default. */
  text(name: string, fallback?: string): string {
    return this.optionalText(name) ?? fallback ?? this.wrong(`${name} is not set`, '');
  }

  /** Any text; null where it is not set. */
  optionalText(name: string): string | null {
    return this.environment[name]?.trim() || null;
  }

  /** A URL of one of the protocols (`postgres:`). It may hold a password, so problems do not repeat it. */
  url(name: string, protocols: readonly string[], fallback?: string): string {
    const text = this.text(name, fallback);
    if (text !== '' && !(URL.canParse(text) && protocols.includes(new URL(text).protocol)))
      return this.wrong(`${name} is not a URL that begins with ${protocols.join(' or ')}`, text);
    return text;
  }

  /** A whole number; required without a default. */
  integer(name: string, range: NumberRange): number {
    return this.inRange(name, range, /^-?\d{1,15}$/, 'a whole number');
  }

  /** A number, possibly with a fraction; required without a default. */
  number(name: string, range: NumberRange): number {
    return this.inRange(name, range, /^-?\d{1,15}(\.\d{1,6})?$/, 'a number');
  }

  /** A TCP port; 0 lets the system choose. */
  port(name: string, fallback: number): number {
    return this.integer(name, { min: 0, max: 65_535, default: fallback });
  }

  /** One of a few words. */
  oneOf<const Word extends string>(name: string, words: readonly Word[], fallback: Word): Word {
    const text = this.text(name, fallback);
    const word = words.find((one) => one === text);
    return word ?? this.wrong(`${name} must be one of ${words.join(', ')}, not "${text}"`, fallback);
  }

  /** `1` or `true`, `0` or `false`. (Default: false) */
  flag(name: string): boolean {
    const word = this.oneOf(name, ['0', 'false', '1', 'true'], '0');
    return word === '1' || word === 'true';
  }

  /** Words between commas. */
  list(name: string, fallback: readonly string[]): readonly string[] {
    const words = this.optionalText(name)
      ?.split(',')
      .map((word) => word.trim())
      .filter(Boolean);
    return words ?? fallback;
  }

  /** Adds a problem that concerns more than one setting. */
  problem(text: string): void {
    this.problems.push(text);
  }

  private inRange(name: string, { min, max, default: fallback }: NumberRange, form: RegExp, what: string): number {
    const text = this.optionalText(name);
    if (text === null) return fallback ?? this.wrong(`${name} is not set`, min);
    const value = Number(text);
    return form.test(text) && value >= min && value <= max
      ? value
      : this.wrong(`${name} must be ${what} from ${min} to ${max}, not "${text}"`, min);
  }

  private wrong<Value>(problem: string, instead: Value): Value {
    this.problems.push(problem);
    return instead;
  }
}

/**
 * Reads an app's settings once and freezes them.
 *
 * @throws ConfigError naming every problem at the same time.
 */
export const readConfig = <Config extends object>(
  environment: Environment,
  read: (settings: EnvironmentReader) => Config,
): Readonly<Config> => {
  const settings = new EnvironmentReader(environment);
  const config = read(settings);
  if (settings.problems.length > 0) throw new ConfigError(settings.problems);
  return deepFreeze(config);
};

const deepFreeze = <Value extends object>(value: Value): Readonly<Value> => {
  for (const inner of Object.values(value)) if (typeof inner === 'object' && inner !== null) deepFreeze(inner);
  return Object.freeze(value);
};
