import { expect, it } from 'vitest';
import { installerOf } from '../../packages/create-baton/src/installer.ts';
import { projectFiles } from '../../packages/create-baton/src/project-files.ts';
import { codeBlocks } from '../../scripts/packed/consumer.ts';
import { readText } from '../repository/source-files.ts';

it('the page about a project shows the agent and the scripts that the project has', () => {
  const files = projectFiles('my-agent', { store: 'sqlite', template: 'express' }, installerOf());
  const { scripts } = JSON.parse(files.get('package.json')!);
  const page = readText('docs/start/project.md');
  const [shown = ''] = codeBlocks('docs/start/project.md');
  const [imported = '', ...agent] = shown.split('\n\n');
  expect(files.get('src/agent.ts')).toContain(imported);
  expect(files.get('src/agent.ts')).toContain(agent.join('\n\n'));
  const run = Array.from(
    page.matchAll(/^npm (?:run )?(start|test|client|receiver)\b/gm),
    ([, name]) => name!,
  );
  expect(run).toEqual(['test', 'start', 'client', 'receiver']);
  expect(Object.keys(scripts)).toEqual(expect.arrayContaining(run));
  for (const [, file = ''] of page.matchAll(/`((?:src|test)\/[\w.-]+)`/g))
    expect([...files.keys()]).toContain(file);
});
