import type { Changeset } from '../release/read-changesets.ts';

/** A published package, with its list of exports now and the one of its last release, which is empty before the first. */
export interface Exports {
  readonly name: string;
  readonly version: string;
  readonly now: string;
  readonly released: string;
}

/**
 * The names that the last release had and that are gone, with the entry that had them. None where a changeset of the
 * package announces a breaking change: `minor` or `major` before 1.0, then `major`.
 */
export function brokenNames(
  { name, version, now, released }: Exports,
  changesets: readonly Changeset[],
): string[] {
  const breaking = version.startsWith('0.') ? ['minor', 'major'] : ['major'];
  if (changesets.some(({ bumps }) => breaking.includes(bumps[name] ?? ''))) return [];
  const kept = namesIn(now);
  return [...namesIn(released)].filter((one) => !kept.has(one));
}

/** A line for each name and kind of an entry. A class that became an interface has lost its value. */
function namesIn(list: string): Set<string> {
  const found = new Set<string>();
  let entry = '';
  for (const line of list.split('\n')) {
    const [, name, kinds = ''] = /^ {2}(\S+): (.+)$/.exec(line) ?? [];
    if (name === undefined) entry = line.replace(/ \(\d+\)$/, '');
    else for (const kind of kinds.split(' and ')) found.add(`${entry}: the ${kind} ${name}`);
  }
  return found;
}
