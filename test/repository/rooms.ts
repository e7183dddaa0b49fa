import { posix } from 'node:path';
import { localImports } from './import-cycles.ts';
import type { SourceFile } from './source-files.ts';

/** The folders of a package's `src`, each with the other folders that its files may import. */
export type Rooms = ReadonlyMap<string, readonly string[]>;

/** The name of the folder `src` itself: its files are entries and wiring, and may import every folder. */
export const top = 'src';

/**
 * Reads the folders of every package from a page. The last cell of a package's row has them as
 * `` `a` → `b`, `c` · `d` ``: `a` may import `b` and `c`, `d` none. A heading `` The folders of `shop` `` stands above a
 * table with a row for each folder, whose last cell lists the folders that it may import.
 */
export function roomsOf(page: string): ReadonlyMap<string, Rooms> {
  const [overview = '', ...sections] = page.split(/^#+ The folders of /m);
  const packages = new Map(
    Array.from(rowsOf(overview), ([name, cell]) => [name, arrowsIn(cell)] as const).filter(
      ([, rooms]) => rooms.size > 0,
    ),
  );
  for (const section of sections) {
    packages.set(namesIn(section)[0]!, arrowsOfRows(section));
  }
  return packages;
}

/**
 * Reads the layers of a package from a page: the folders directly in its `src`, each with the others that its files may
 * import. A table for them stands under the heading `` The layers of `shop` ``.
 */
export function layersOf(page: string, name: string): Rooms {
  const [, section = ''] = page.split(`The layers of \`${name}\`\n`);
  return arrowsOfRows(section);
}

/** The folder that a file lies in, relative to its package's `src`: `src` for the files directly in it. */
export function roomOf(path: string): string {
  return posix.dirname(path).replace(/^.*?\/src(\/|$)/, '') || top;
}

/** The folder directly in its package's `src` that a file lies in or below: `src` for the files directly in it. */
export const layerOf = (path: string): string => roomOf(path).split('/')[0]!;

/** Every import between two folders that the rooms of a package do not list, as `file → file`. */
export function foreignImports(
  files: readonly SourceFile[],
  rooms: Rooms,
  folderOf: (path: string) => string = roomOf,
): string[] {
  return files.flatMap((file) => {
    const from = folderOf(file.path);
    return localImports(file)
      .filter(
        (target) => from !== top && from !== folderOf(target) && !rooms.get(from)?.includes(folderOf(target)),
      )
      .map((target) => `${file.path} → ${target}`);
  });
}

/** The name in the first cell of every row, and the last cell. */
function* rowsOf(table: string): Generator<readonly [name: string, lastCell: string]> {
  for (const [, name, cell] of table.matchAll(/^\| `([^`]+)` *\|.*\|([^|]*)\|$/gm)) yield [name!, cell!];
}

/** The arrows of a table with a row for each folder, which ends at the next heading. */
const arrowsOfRows = (section: string): Rooms =>
  new Map(Array.from(rowsOf(section.split(/^#/m)[0]!), ([name, cell]) => [name, namesIn(cell)]));

function arrowsIn(cell: string): Rooms {
  const arrows = cell.split('·').map((arrow) => arrow.split('→').map(namesIn));
  return new Map(arrows.flatMap(([from, to]) => (from?.[0] ? [[from[0], to ?? []]] : [])));
}

const namesIn = (text: string): string[] => Array.from(text.matchAll(/`([^`]+)`/g), ([, name]) => name!);
