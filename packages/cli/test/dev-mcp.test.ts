import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, it, onTestFinished } from 'vitest';
import { node } from '../../../test/kit/processes.ts';
import { temporaryFolder } from '../../../test/kit/temporary-folder.ts';
import { root } from '../../../test/repository/source-files.ts';

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
        export default { name: 'mine', agent: async function* ({ text }) { yield ${name}(text); } };`,
    );
  write('complete');
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
  expect(await call('agent')).toMatch(/^The agent did not start\. It printed:[\s\S]*named 'complete'/);
  write('completed');
  expect(await call('agent')).toMatch(/^The agent runs at http:[\s\S]*It printed:\n[\s\S]*Loaded/);
  const sent = await call('send', { message: 'Hello' });
  expect(sent).toMatch(/TASK_STATE_COMPLETED\nIt says: Hello$/);
  const [, taskId] = /^Task (\S+),/.exec(sent) ?? [];
  expect(await call('timeline', { taskId })).toMatch(/^#1 .*"Hello"/);
  expect(await call('fork', { taskId, message: 'Again' })).toMatch(/TASK_STATE_COMPLETED\nIt says: Again$/);
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
