/** How changesets writes a change into a CHANGELOG: the words of the changeset, without hashes of commits. */

interface Change {
  readonly summary: string;
}

interface Updated {
  readonly name: string;
  readonly newVersion: string;
}

function getReleaseLine({ summary }: Change): string {
  const lines = summary.trim().split('\n');
  // A list stays a list; a list inside of a list item reads badly.
  if (lines[0]!.startsWith('- ')) return lines.map((line) => line.trimEnd()).join('\n');
  return `- ${lines.map((line, n) => (n === 0 || line.trim() === '' ? line.trim() : `  ${line.trimEnd()}`)).join('\n')}`;
}

/** One line for all, where changesets has one for each change of each of them. */
function getDependencyReleaseLine(_changes: unknown, updated: readonly Updated[]): string {
  if (updated.length === 0) return '';
  return `- Works with ${updated.map(({ name, newVersion }) => `${name} ${newVersion}`).join(', ')}.`;
}

export default { getReleaseLine, getDependencyReleaseLine };
