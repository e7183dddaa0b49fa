import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, it, onTestFinished } from 'vitest';
import { node } from '../../../test/kit/processes.ts';
import { temporaryFolder } from '../../../test/kit/temporary-folder.ts';
import { root } from '../../../test/repository/source-files.ts';

/** An assistant that has started dev --mcp. */
async function assistant(folder: string, file: string) {
  const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env;
  const transport = new StdioClientTransport({
    command: node,
    args: [
      ...['--conditions=@batonjs/source', join(root, 'packages/cli/src/main.ts')],
      ...['dev', file, '--port', '0', '--mcp'],
    ],
    cwd: folder,
    env: { PATH, NODE_COMPILE_CACHE, HOME: folder },
    stderr: 'pipe',
  });
  const client = new Client({ name: 'assistant', version: '1' });
  onTestFinished(() => client.close());
  await client.connect(transport);
  const call = async (name: string, args: Record<string, unknown> = {}) => {
    const { content } = await client.callTool({ name, arguments: args });
    return (content as { text: string }[]).map(({ text }) => text).join('\n');
  };
  return { client, call };
}

it('dev --mcp serves an assistant, which mends an agent that does not start, and ends with it', {
  timeout: 300_000,
}, async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'agent.ts');
  const write = (name: string) =>
    writeFileSync(
      file,
      `import { ${name} } from '${root}/packages/server/src/index.ts';
        console.log('Loaded');
        export default { name: 'mine', agent: async function* ({ text }) {
          console.log(text);
          // The process that watches says of each file over the same channel that it watches it.
          await import('./late.ts');
          yield ${name}(text);
        } };`,
    );
  writeFileSync(join(folder, 'late.ts'), '');
  write('complete');
  const { client, call } = await assistant(folder, file);
  expect(await call('agent')).toMatch(/^The agent did not start\. It printed:[\s\S]*named 'complete'/);
  write('completed');
  expect(await call('agent')).toMatch(/^The agent runs at http:[\s\S]*It printed:\n[\s\S]*Loaded/);
  const sent = await call('send', { message: 'Hello' });
  expect(sent).toMatch(/TASK_STATE_COMPLETED\nIt says: Hello$/);
  const [, taskId] = /^Task (\S+),/.exec(sent) ?? [];
  expect(await call('timeline', { taskId })).toMatch(/^#1 .*"Hello"/);
  expect(await call('fork', { taskId, message: 'Again' })).toMatch(/TASK_STATE_COMPLETED\nIt says: Again$/);
  // Whatever the agent prints, the tools stay with it.
  const hostile = ['URL: http://127.0.0.1:1/', 'Name: other', "Failed running 'agent.ts'", 'Printed'].join(
    '\n',
  );
  await call('send', { message: hostile });
  await expect
    .poll(() => call('agent'))
    .toMatch(/^The agent runs at http:[\s\S]*URL: http:\/\/127\.0\.0\.1:1\/[\s\S]*Printed/);
  expect(await call('timeline', { taskId })).toMatch(/^#1 .*"Hello"/);
  expect(await call('search_docs', { query: 'step' })).toContain('The documentation is not installed');
  const [, url = ''] = /runs at (\S+)/.exec(await call('agent')) ?? [];
  expect((await fetch(`${url}/.well-known/agent-card.json`)).status).toBe(200);
  await client.close();
  await expect
    .poll(() =>
      fetch(url).then(
        () => 'there',
        () => 'gone',
      ),
    )
    .toBe('gone');
});

it('dev --mcp ends if the process that watches does', { timeout: 120_000 }, async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'agent.ts');
  writeFileSync(file, `console.log('Watched by ' + process.ppid); export default () => {};`);
  const { client, call } = await assistant(folder, file);
  const closed = new Promise<void>((resolve) => {
    client.onclose = resolve;
  });
  const watched = /Watched by (\d+)/;
  await expect.poll(() => call('agent')).toMatch(watched);
  process.kill(Number(watched.exec(await call('agent'))?.[1]), 'SIGKILL');
  await closed;
});
