/** Runs before `@batonjs/server` is packed: writes the pages for users into it, and the skills of new projects. */
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './links.ts';
import { writePackageDocs } from './plain-pages.ts';

const server = join(root, 'packages/server');
writePackageDocs(join(server, 'docs'));
rmSync(join(server, 'skills'), { recursive: true, force: true });
cpSync(join(root, 'packages/create-baton/templates/shared/agents/skills'), join(server, 'skills'), {
  recursive: true,
});
