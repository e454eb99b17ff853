import { parseSync, Visitor } from 'oxc-parser';

const TEST = new Set(['it', 'test']);
const GROUP = new Set(['describe']);

/** `it`, `it.only`, `it.each(table)`, `` it.each`table` ``: the name at the root, and whether a table stands between. */
const rootOf = (callee) => {
  let isTable = false;
  for (let node = callee; node;) {
    if (node.type === 'Identifier') return { name: node.name, isTable };
    if (node.type === 'MemberExpression') {
      if (node.property.name === 'each') isTable = true;
      node = node.object;
    } else if (node.type === 'CallExpression') node = node.callee;
    else if (node.type === 'TaggedTemplateExpression') node = node.tag;
    else return { name: null, isTable };
  }
  return { name: null, isTable };
};

/** What stands for a value that only a run knows. */
const HOLE = '\u2026';

/** The text of a title; null when it is computed. In the title of a table's test, `%s` and `$name` become holes as well. */
const textOf = (node, isTable) => {
  const fillTable = (text) => (isTable ? text.replaceAll(/%[psdifjoO#$]|\$[\w.#]+/g, HOLE) : text);
  if (node?.type === 'Literal' && typeof node.value === 'string') return fillTable(node.value);
  if (node?.type === 'TemplateLiteral') return node.quasis.map(({ value }) => fillTable(value.cooked)).join(HOLE);
  if (node?.type === 'BinaryExpression' && node.operator === '+') {
    const [left, right] = [textOf(node.left, isTable), textOf(node.right, isTable)];
    return left === null && right === null ? null : `${left ?? HOLE}${right ?? HOLE}`;
  }
  return null;
};

/**
 * The titles of all tests in a spec's source, each with the titles of the groups around it, as a run would print them but with
 * `…` where only the run knows the value.
 */
export const titlesIn = (path, source) => {
  const { program, errors } = parseSync(path, source);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0].message}`);
  const found = [];
  const groups = [];
  const kindOf = (node) => {
    // `it.each(table)` is a call as well; the test is the call of what it returns.
    if (node.callee.type === 'MemberExpression' && node.callee.property.name === 'each') return null;
    const { name, isTable } = rootOf(node.callee);
    if (!TEST.has(name) && !GROUP.has(name)) return null;
    const title = textOf(node.arguments[0], isTable) ?? (node.arguments.length > 1 ? HOLE : null);
    return title === null ? null : { isTest: TEST.has(name), title };
  };
  new Visitor({
    CallExpression(node) {
      const kind = kindOf(node);
      if (kind?.isTest) found.push([...groups, kind.title].join(' › '));
      else if (kind) groups.push(kind.title);
    },
    'CallExpression:exit'(node) {
      const kind = kindOf(node);
      if (kind && !kind.isTest) groups.pop();
    },
  }).visit(program);
  return found;
};

/** Whether a title that a run printed is one of a static title: each hole stands for any text. */
export const isRunOf = (title, printed) =>
  new RegExp(
    `^${title
      .split(HOLE)
      .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
      .join('.*')}$`,
    's',
  ).test(printed);
