/** Runs before `@batonjs/server` is packed: writes the pages for users into it. */
import { join } from 'node:path';
import { root } from './links.ts';
import { writePackageDocs } from './plain-pages.ts';

writePackageDocs(join(root, 'packages/server/docs'));
