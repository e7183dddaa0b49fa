import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { reply } from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listen } from '../../../test/kit/listen.ts';
import { node, run } from '../../../test/kit/processes.ts';
import { serve } from '../../../test/kit/serve.ts';
import { openBrowser } from '../src/open-browser.ts';

const inspect = (...args: string[]) =>
  run(node, ['--conditions=@batonjs/source', 'packages/inspector/src/cli.ts', ...args]);

describe('the browser', () => {
  it('gets the token from a file of the user, and no process has it in its arguments', () => {
    const started: string[][] = [];
    const address = 'http://127.0.0.1:1/#token=s3cret-"&';
    const { path, remove } = openBrowser(address, (command, args) => started.push([command, ...args]));
    onTestFinished(remove);
    expect(started).toEqual([expect.arrayContaining([path])]);
    expect(JSON.stringify(started)).not.toContain('s3cret');
    expect([statSync(path).mode & 0o777, statSync(dirname(path)).mode & 0o777]).toEqual([0o600, 0o700]);
    expect(readFileSync(path, 'utf8')).toContain('url=http://127.0.0.1:1/#token=s3cret-&quot;&amp;"');
    remove();
    expect(existsSync(dirname(path))).toBe(false);
  });
});

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

  it('ends with 2 where it is told something wrong', async () => {
    await using command = inspect('--wrong');
    expect(await command.ended).toBe(2);
    expect(command.output).toContain("Unknown option '--wrong'");
  });

  it('explains itself', async () => {
    await using command = inspect('--help');
    expect(await command.ended).toBe(0);
    expect(command.output).toMatch(/^Usage: inspector/);
  });
});
