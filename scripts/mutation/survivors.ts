import type { Result, Survivor } from './result.ts';

/**
 * Where survivors are in the sources as they are now, for Stryker: `packages/x/src/y.ts:3:8-5:1`, each once, with columns
 * that begin at 0. `found` are those that are still there. `sourceOf` reads a file.
 */
export function linesOf(survivors: readonly Survivor[], sourceOf: (file: string) => string) {
  const lines = new Set<string>();
  const found: Survivor[] = [];
  for (const survivor of survivors) {
    const ranges = rangesOf(survivor, sourceOf(survivor.file).split('\n'));
    if (ranges.length > 0) found.push(survivor);
    for (const range of ranges) lines.add(`${survivor.file}:${range}`);
  }
  return { lines: [...lines], found };
}

/** All places of a mutation: the line where it begins may stand in the file more than once. */
function rangesOf({ line, original }: Survivor, source: readonly string[]): string[] {
  const words = original.split(' ').map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return source.flatMap((text, first) => {
    if (text.trim() !== line) return [];
    const rest = source.slice(first).join('\n');
    const places = [...rest.matchAll(new RegExp(words.join('\\s+'), 'g'))].filter(
      ({ index }) => index < text.length,
    );
    return places.map(({ 0: found, index }) => {
      const before = rest.slice(0, index + found.length).split('\n');
      return `${first + 1}:${index}-${first + before.length}:${before.at(-1)!.length}`;
    });
  });
}

/**
 * What is known of a part after the lines of its survivors were mutated again. Mutations of these lines that were noticed
 * before count as before; `found` are the survivors that were tried again. Others are gone from the sources. What was not
 * in the sample of the run before is left out: a survivor whose line stands in its file twice counts once, as before.
 */
export function withRetried(before: Result, found: readonly Survivor[], again: Result): Result {
  const survivors = before.sample ? again.survivors.filter(takenFrom(found)) : again.survivors;
  const noticed = Math.max(0, found.length - survivors.length);
  return { ...before, date: again.date, killed: before.killed + noticed, survivors };
}

const keyOf = ({ file, line, original, replacement }: Survivor) =>
  JSON.stringify([file, line, original, replacement]);

/** Whether a survivor is one of these that was not asked for yet. */
function takenFrom(survivors: readonly Survivor[]) {
  const left = survivors.map(keyOf);
  return (survivor: Survivor): boolean => {
    const at = left.indexOf(keyOf(survivor));
    if (at === -1) return false;
    left.splice(at, 1);
    return true;
  };
}
