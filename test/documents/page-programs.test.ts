import { globSync } from 'node:fs';
import { expect, it } from 'vitest';
import { freePort } from '../kit/processes.ts';
import { root } from '../repository/source-files.ts';
import { describePrograms, programsOf } from './describe-programs.ts';
import { pages } from './page-programs.ts';

it('every program of a page that makes a server or a worker is run, or left out with a reason', () => {
  const files = globSync('docs/{agents,operating,serving,start}/*.md', { cwd: root });
  const made = files.map(
    (file) => [file.slice('docs/'.length, -'.md'.length), programsOf(file).length] as const,
  );
  const listed = Object.entries(pages).map(([page, examples]) => [page, examples.length]);
  expect(listed.sort()).toEqual(made.filter(([, count]) => count > 0).sort());
});

describePrograms('alone', async () => ({ port: await freePort(), isPlain: true }));
