import { reply } from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { describe, expect, it } from 'vitest';
import { listen } from '../../../test/kit/listen.ts';
import { node, run } from '../../../test/kit/processes.ts';
import { serve } from '../../../test/kit/serve.ts';

const inspect = (...args: string[]) =>
  run(node, ['--conditions=@batonjs/source', 'packages/inspector/src/cli.ts', ...args]);

describe('the command', () => {
  it('prints an address with a token, under which the agents are, and ends on Ctrl-C', async () => {
    const url = await listen(nodeHandler(serve(() => reply('Hello'))));
    await using command = inspect(url, '--allow', 'send');
    const output = await command.until(/Ctrl-C/);
    const [, address, token] = /The inspector is at (http:\/\/127\.0\.0\.1:\d+\/)#token=([\w-]+)/.exec(
      output,
    )!;
    const get = (path: string, headers = {}) => fetch(`${address}api${path}`, { headers });
    expect((await get('/session')).status).toBe(401);
    const session = await (await get('/session', { authorization: `Bearer ${token}` })).json();
    expect(session).toMatchObject({ agents: [{ url: url }], may: ['send', 'fetch-file', 'add-agent'] });
    command.signal('SIGINT');
    expect(await command.ended).toBe(0);
  });

  it('ends with 2 where it is told something wrong', async () => {
    await using command = inspect('--wrong');
    expect(await command.ended).toBe(2);
    expect(command.output).toContain("Unknown option '--wrong'");
  });
});
