import type { Writable } from 'node:stream';
import Table from 'cli-table3';
import picocolors from 'picocolors';
import { printable, printableJson } from './printable.js';

/** Colours carry no meaning of their own: every word is there without them. */
export type Tone = 'good' | 'warning' | 'bad' | 'quiet' | 'plain';
export type Cell = string | { readonly text: string; readonly tone: Tone };

/** A stream to write to; a terminal has `isTTY`. */
export type Screen = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/**
 * Everything that the CLI prints goes through here, and every text is made printable on the way, so no command can forget it. Answers go
 * to stdout, what is said around them to stderr.
 */
export class Output {
  private readonly colours: ReturnType<typeof picocolors.createColors>;

  constructor(
    private readonly stdout: Screen,
    private readonly stderr: Screen,
    env: Readonly<Record<string, string | undefined>>,
    /** One JSON document instead of texts and tables. */
    readonly asJson: boolean,
  ) {
    // Not picocolors' own detection: that one colours a pipe when CI or FORCE_COLOR is set.
    this.colours = picocolors.createColors(stdout.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb');
  }

  /** True when a person looks at stdout. */
  get interactive(): boolean {
    return this.stdout.isTTY === true && !this.asJson;
  }

  /** A line of the answer. */
  line(text: string, tone: Tone = 'plain'): void {
    this.stdout.write(`${this.paint(printable(text), tone)}\n`);
  }

  /** A line beside the answer: notes, questions, failures. */
  note(text: string): void {
    this.stderr.write(`${printable(text)}\n`);
  }

  /** The answer as one document, or as one line while watching. */
  json(value: unknown, form: 'document' | 'line' = 'document'): void {
    this.stdout.write(`${printableJson(value, form === 'document' ? 2 : undefined)}\n`);
  }

  /** The answer as one document that is written as its items come: `{"name": [ … ], …}`. One that was cut short does not parse. */
  jsonInParts(name: string): { item(value: unknown): void; end(rest: object): void } {
    let separator = `{${printableJson(name)}: [\n`;
    return {
      item: (value) => {
        this.stdout.write(`${separator}${printableJson(value)}`);
        separator = ',\n';
      },
      end: (rest) => {
        const nothing = separator.startsWith('{') ? separator : '';
        this.stdout.write(`${nothing}\n], ${printableJson(rest).slice(1)}\n`);
      },
    };
  }

  /** How far something has come that takes long, for a person who waits at a terminal; null: nothing to wait for. */
  progress(text: string | null): void {
    if (this.stderr.isTTY === true) this.stderr.write(`\r\u001b[K${text === null ? '' : printable(text)}`);
  }

  /** The answer as a table without rules, as wide as its content. */
  table(head: readonly string[], rows: readonly (readonly Cell[])[]): void {
    this.stdout.write(`${this.renderTable(head, rows)}\n`);
  }

  /** Names and values below each other. */
  fields(fields: readonly (readonly [name: string, value: Cell])[]): void {
    const width = Math.max(...fields.map(([name]) => name.length));
    for (const [name, value] of fields) {
      this.stdout.write(`${this.paint(printable(name).padEnd(width), 'quiet')}  ${this.cell(value)}\n`);
    }
  }

  /** Clears the terminal and writes anew from its top. Only where `interactive`. */
  redraw(draw: () => void): void {
    this.stdout.write('\u001b[H\u001b[2J\u001b[3J');
    draw();
  }

  private renderTable(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
    const nothing = Object.fromEntries(
      ['top', 'bottom', 'left', 'right', 'mid'].flatMap((side) =>
        side === 'mid'
          ? [
              ['mid', ''],
              ['mid-mid', ''],
            ]
          : [
              [side, ''],
              [`${side}-left`, ''],
              [`${side}-right`, ''],
              [`${side}-mid`, ''],
            ],
      ),
    );
    const table = new Table({
      head: head.map((title) => this.paint(title, 'quiet')),
      chars: { ...nothing, 'left-mid': '', 'right-mid': '', middle: '  ' },
      style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
    });
    table.push(...rows.map((row) => row.map((cell) => this.cell(cell))));
    // Trailing blanks of the last column would wrap narrow terminals for nothing.
    return table.toString().replace(/[ \t]+$/gm, '');
  }

  private cell(cell: Cell): string {
    return typeof cell === 'string' ? printable(cell) : this.paint(printable(cell.text), cell.tone);
  }

  private paint(text: string, tone: Tone): string {
    const { green, yellow, red, dim } = this.colours;
    const paints = { good: green, warning: yellow, bad: red, quiet: dim, plain: String } as const;
    return paints[tone](text);
  }
}
