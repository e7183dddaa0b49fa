/** A package as it is before its first release. */
export interface Unreleased {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  /** The summaries of its minor changesets. */
  readonly features: readonly string[];
}

/** Sentences about what an unreleased state did. Readers of a first release never saw it. */
const isHistory =
  /^First release|\b(no longer|any ?more|used to|replaces?|renamed|is called|are called|now|instead of|did|less|another card)\b/i;

/**
 * The CHANGELOG of a first release: what the package is, and a line for each thing that it can do. The whole texts of the
 * changesets tell how an unreleased state became another, and are left to git.
 */
export function firstChangelog({ name, version, description, features }: Unreleased): string {
  const lines = new Set(features.flatMap(headlines).filter((line) => !isHistory.test(line)));
  const list = lines.size > 0 ? `\n${Array.from(lines, (line) => `- ${line}`).join('\n')}\n` : '';
  return `# ${name}\n\n## ${version}\n\nFirst release. ${description}\n${list}`;
}

/** The first sentence of each item of a list, or of the text where it has no list. */
export function headlines(summary: string): string[] {
  const blocks = summary.trim().split(/\n(?=- )|\n\n/);
  const items = blocks.filter((block) => block.startsWith('- ')).map((block) => block.slice(2));
  return (items.length > 0 ? items : blocks.slice(0, 1)).map(firstSentence);
}

/** A first sentence of a few words ("Limits hold.") says nothing without the second. */
const fewCharacters = 40;

function firstSentence(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  // The full stop of a name such as `server.fetch` or `v1.0` is not followed by a space and a capital.
  const ends = Array.from(outsideCode(line).matchAll(/\.(?= [A-Z`])/g), ({ index }) => index);
  const end = ends.find((index) => index >= fewCharacters) ?? line.length;
  return `${line.slice(0, end).replace(/[.:]$/, '')}.`;
}

/** The text, with as many other characters where it has code. */
const outsideCode = (text: string): string => text.replaceAll(/`[^`]*`/g, (code) => '`'.repeat(code.length));
