import Table from 'cli-table3';

type Numbers = { readonly [name: string]: number | string | Numbers };

/** A result as a person reads it: the JSON's names, one row each. */
export const report = (result: Numbers & { readonly cores: number }): string => {
  const table = new Table({
    style: { head: [], border: [] },
    head: ['measured', 'value'],
    colAligns: ['left', 'right'],
  });
  table.push(...rows(result));
  return `${table.toString()}\nThe load, the servers and PostgreSQL shared ${result.cores} cores.\n`;
};

const rows = (numbers: Numbers, prefix = ''): [string, string][] =>
  Object.entries(numbers).flatMap(([name, value]): [string, string][] =>
    typeof value === 'object' ? rows(value, `${prefix}${name}.`) : [[`${prefix}${name}`, String(value)]],
  );
