/** `pnpm docs:tables`: writes the tables of options, errors and turns into their pages, from the code. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { docs } from './pages.ts';
import { withTables } from './tables.ts';

for (const name of ['options.md', 'errors.md', 'agents/turn.md']) {
  const path = join(docs, name);
  writeFileSync(path, withTables(readFileSync(path, 'utf8')));
}
