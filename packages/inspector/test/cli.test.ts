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
    await using command = inspect(url, '--no-open', '--allow', 'send');
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

  it('is read-only unless it is allowed more', async () => {
    await using command = inspect('--no-open');
    const output = await command.until(/Ctrl-C/);
    const [, address, token] = /(http:\S+)#token=([\w-]+)/.exec(output)!;
    const session = await fetch(`${address}api/session`, { headers: { authorization: `Bearer ${token}` } });
    expect((await session.json()).may).toEqual(['fetch-file', 'add-agent']);
  });

  it.each([
    [['expense'], 'An agent url begins with http:// or https://, unlike "expense"'],
    [['--allow', 'everything'], '--allow must be send, cancel or all, not "everything"'],
    [['--header', 'secret'], '--header must be "Name: value", not "secret"'],
    [['--port', 'x'], '--port must be a whole number from 0 to 65535, not "x"'],
    [['--wrong'], "Unknown option '--wrong'"],
  ])('refuses %j with a sentence', async (args, why) => {
    await using command = inspect(...args);
    expect(await command.ended).toBe(2);
    expect(command.output).toContain(why);
    expect(command.output).not.toContain('    at ');
  });

  it('explains itself', async () => {
    await using command = inspect('--help');
    expect(await command.ended).toBe(0);
    expect(command.output).toMatch(/^Usage: inspector/);
  });
});
