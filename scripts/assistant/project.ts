import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writePackageDocs } from '../../docs/.vitepress/plain-pages.ts';

const packages = join(import.meta.dirname, '../../packages');

/** What a new agent needs: each package with its entries and the sources that these stand for. */
const installed: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  server: { '.': 'src/index.ts' },
  testing: { '.': 'src/index.ts' },
  client: { '.': 'src/index.ts' },
  'store-memory': { '.': 'src/index.ts' },
};

/** An empty project in which the packages are installed, the documentation with them. */
export function writeEmptyProject(folder: string): void {
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  for (const [name, entries] of Object.entries(installed)) {
    const place = join(folder, 'node_modules/@batonjs', name);
    mkdirSync(join(place, 'dist'), { recursive: true });
    const exports: Record<string, string> = {};
    for (const [entry, source] of Object.entries(entries)) {
      const file = `./dist/${entry === '.' ? 'index' : entry.slice(2)}.js`;
      exports[entry] = file;
      writeFileSync(join(place, file), `export * from ${JSON.stringify(join(packages, name, source))};\n`);
    }
    writeFileSync(join(place, 'package.json'), JSON.stringify({ type: 'module', exports }));
  }
  writePackageDocs(join(folder, 'node_modules/@batonjs/server/docs'));
}
