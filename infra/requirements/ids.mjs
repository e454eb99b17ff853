// How requirement ids are written: in the list as `- **O1** …`, in a test's title as `(O1)` or `(O1, C22)`.

const ID = /^(?:O\d{1,2}|T-[12]\.\d{1,2}|N\d{1,2}|U\d|B\d|C\d{2})$/;

/** The ids of the list with what each says, in the list's order. */
export const readList = (markdown) =>
  new Map(
    [...markdown.matchAll(/^- \*\*(\S+?)\*\* (.+(?:\n {2}\S.*)*)/gm)].map(([, id, text]) => [
      id,
      text.replace(/\s+/g, ' '),
    ]),
  );

/** The ids that a title carries. Only what stands in brackets counts, so that a word such as B1 in a sentence claims nothing. */
export const idsIn = (title) => [
  ...new Set(
    [...title.matchAll(/\(([^()]*)\)/g)].flatMap(([, inside]) =>
      inside.split(/[\s,;/]+|\band\b/).filter((word) => ID.test(word)),
    ),
  ),
];
