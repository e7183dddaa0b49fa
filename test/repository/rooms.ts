import { posix } from 'node:path';
import { parse } from 'yaml';
import { localImports } from './import-cycles.ts';
import { readText, type SourceFile } from './source-files.ts';

/** The folders of a package's `src`, each with the other folders that its files may import. */
export type Rooms = ReadonlyMap<string, readonly string[]>;

/** The name of the folder `src` itself: its files are entries and wiring, and may import every folder. */
export const top = 'src';

/** What a package or app may import of the others, and its folders. */
interface Row {
  readonly imports: readonly string[];
  readonly folders?: Readonly<Record<string, readonly string[]>>;
}

/** Who may import whom, as `arrows.yaml` lists it. */
export const arrows = new Map(
  Object.entries(parse(readText('test/repository/arrows.yaml')) as Record<string, Row>),
);

/** The folders of a package with their arrows, in the order of the list: each below those that it may import. */
export const roomsOf = (name: string): Rooms => new Map(Object.entries(arrows.get(name)?.folders ?? {}));

/** The arrows between the layers of a package, in the order in which its folders name them. */
export function layersOf(rooms: Rooms): Rooms {
  const layers = Map.groupBy(rooms, ([room]) => firstPart(room));
  return new Map(
    [...layers].map(([layer, inner]) => {
      const others = inner.flatMap(([, imported]) => imported.map(firstPart));
      return [layer, [...new Set(others)].filter((other) => other !== layer && other !== top)];
    }),
  );
}

/** The folder that a file lies in, relative to its package's `src`: `src` for the files directly in it. */
export function roomOf(path: string): string {
  return posix.dirname(path).replace(/^.*?\/src(\/|$)/, '') || top;
}

/** The folder directly in its package's `src` that a file lies in or below: `src` for the files directly in it. */
export const layerOf = (path: string): string => firstPart(roomOf(path));

/** Every import between two folders that the rooms of a package do not list, as `file → file`. */
export function foreignImports(files: readonly SourceFile[], rooms: Rooms): string[] {
  return files.flatMap((file) => {
    const from = roomOf(file.path);
    return localImports(file)
      .filter(
        (target) => from !== top && from !== roomOf(target) && !rooms.get(from)?.includes(roomOf(target)),
      )
      .map((target) => `${file.path} → ${target}`);
  });
}

const firstPart = (room: string): string => room.split('/')[0]!;
