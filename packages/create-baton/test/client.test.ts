import { join } from 'node:path';
import { append, artifact, inputRequired, reply, working } from '@batonjs/server';
import { listen } from '@batonjs/server-node';
import { expect, it, onTestFinished } from 'vitest';
import { node, run } from '../../../test/kit/processes.ts';
import { serve } from '../../../test/kit/serve.ts';
import { root } from '../../../test/repository/source-files.ts';
import { installerOf } from '../src/installer.ts';
import { projectFiles } from '../src/project-files.ts';

const client = join(root, 'packages/create-baton/templates/shared/src/client.ts');

it('the client of a project writes a text that streams in one line, and leaves where nobody can answer', async () => {
  const server = serve(async function* ({ text }) {
    yield working('Thinking');
    yield artifact('answer', 'The qu');
    yield append('answer', 'ick ');
    yield append('answer', 'fox');
    yield artifact('source', text);
    yield inputRequired('Enough?');
  });
  const { url, close } = await listen(server, { port: 0 });
  onTestFinished(() => close({ graceMs: 0 }));
  // Its standard input is at its end.
  await using command = run(node, ['--conditions=@batonjs/source', client, 'hello'], {
    env: { AGENT_URL: url },
  });
  const code = await command.ended;
  expect(command.output).toBe('Thinking\nThe quick fox\nhello\nEnough?\n> ');
  expect(code).toBe(0);
});

it.each(['shared', 'agents/express'])(
  'the client in %s says in a sentence why the agent refused it',
  async (template) => {
    const server = serve(() => reply('Found'), { authenticate: () => undefined });
    const { url, close } = await listen(server, { port: 0 });
    onTestFinished(() => close({ graceMs: 0 }));
    const program = join(root, `packages/create-baton/templates/${template}/src/client.ts`);
    await using command = run(node, ['--conditions=@batonjs/source', program, 'hello'], {
      env: { AGENT_URL: url },
    });
    expect(await command.ended).toBe(1);
    expect(command.output).toMatch(/^[A-Z][^\n]*\n$/);
  },
);

it.each([
  ['streaming', true],
  ['plain', false],
] as const)('the README of a %s project names the variables of its model: %s', (template, expected) => {
  const readme = projectFiles('my-agent', { store: 'memory', template }, installerOf()).get('README.md');
  expect(readme?.includes('`MODEL_URL`')).toBe(expected);
});
