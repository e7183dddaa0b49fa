/** Two or more blocks of code, one after another, that have titles: ```` ```ts [Express] ````. */
const together = /(?:^```\w+ \[[^\]\n]+\]\n(?:(?!```).*\n)*```\n+){2,}/gm;

/** The Markdown of a page in which such blocks are tabs. GitHub and readers of the plain page see one after another. */
export const withTabs = (markdown: string): string =>
  markdown.replaceAll(together, (blocks) => `::: code-group\n\n${blocks.trimEnd()}\n\n:::\n\n`);
