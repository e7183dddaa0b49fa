import { existsSync, globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { artifact, completed, type Part } from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { describe, expect, it } from 'vitest';
import { listen } from '../../../test/kit/listen.ts';
import { memoryFiles } from '../../../test/kit/memory-files.ts';
import { serve } from '../../../test/kit/serve.ts';
import { temporaryFolder } from '../../../test/kit/temporary-folder.ts';
import { manyCard, serveMany } from './agents.ts';
import { abortedAfterTest, cli, fieldOf } from './cli.ts';

describe('task download', () => {
  it('saves what a large file of send became, which was uploaded', async () => {
    const held: { handler?: RequestListener } = {};
    const url = await listen((request, response) => held.handler?.(request, response));
    const server = serve(
      async function* ({ message }) {
        yield artifact('same', ...(message.parts as [Part, ...Part[]]));
        yield completed();
      },
      {
        card: { name: 'Test', description: 'For tests', defaultInputModes: ['video/*'] },
        publicUrl: url,
        files: { store: memoryFiles() },
        limits: { bodyBytes: 100_000 },
      },
    );
    held.handler = nodeHandler(server);
    const cwd = temporaryFolder();
    const film = Buffer.alloc(5_000_000, 'film');
    writeFileSync(join(cwd, 'big.mp4'), film);
    const sent = await cli(`send -a ${url} -o json --file ${join(cwd, 'big.mp4')}`);
    expect([sent.code, sent.json.task.artifacts[0].parts[0].filename]).toEqual([0, 'big.mp4']);
    const { code, json } = await cli(`task download -a ${url} ${sent.json.task.id} --dir out -o json`, {
      cwd,
    });
    expect([code, json.files[0].bytes]).toEqual([0, 5_000_000]);
    expect(readFileSync(join(cwd, 'out/big.mp4')).equals(film)).toBe(true);
    // The link breaks in the middle.
    held.handler = (request, response) => {
      if (/\/files\//.test(request.url!))
        response.writeHead(200, { 'content-length': 9 }).write('half', () => response.destroy());
      else nodeHandler(server)(request, response);
    };
    const broken = await cli(`task download -a ${url} ${sent.json.task.id} --dir broken`, { cwd });
    expect([broken.code, readdirSync(join(cwd, 'broken'))]).toEqual([1, []]);
  });

  it('goes on with an upload that was left, where the same file is sent again', async () => {
    const held: { handler?: RequestListener } = {};
    const seen: string[] = [];
    const stop = abortedAfterTest();
    const url = await listen((request, response) => {
      if (/files/.test(request.url!))
        seen.push(`${request.method} ${request.headers['upload-offset'] ?? ''}`);
      if (request.method === 'PATCH' && request.headers['upload-offset'] !== '0') stop.abort();
      held.handler?.(request, response);
    });
    held.handler = nodeHandler(
      serve(
        async function* ({ message, file }) {
          yield completed(`${(await file(message.parts[0]!).bytes()).length}`);
        },
        {
          card: { name: 'Test', description: 'For tests', defaultInputModes: ['video/*'] },
          publicUrl: url,
          files: { store: memoryFiles() },
        },
      ),
    );
    const home = temporaryFolder();
    const path = join(home, 'big.mp4');
    writeFileSync(path, Buffer.alloc(9_000_000, 'film'));
    expect((await cli(`send -a ${url} --file ${path}`, { home, signal: stop.signal })).code).not.toBe(0);
    expect(seen).toEqual(['POST ', 'PATCH 0', 'PATCH 8388608']);
    const again = await cli(`send -a ${url} --file ${path}`, { home });
    expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('9000000')]);
    expect(seen.filter((line) => line === 'POST ')).toHaveLength(1);
    expect(seen).toContain('HEAD ');
    expect(readFileSync(join(home, '.config/a2a-cli/uploads.json'), 'utf8')).toBe('{}\n');
  });

  it('saves artifacts, never outside of the folder and never over a file [A2ACLI_DOWNLOAD_001]', async () => {
    const url = await listen(
      nodeHandler(
        serve(async function* () {
          const raw = Buffer.from('bytes').toString('base64');
          yield artifact('a', { raw, filename: '../../evil.sh' }, { raw, filename: '.profile' });
          yield artifact('b', { raw, filename: 'evil.sh' }, { text: 'Hello' }, { data: { n: 1 } });
          yield artifact('c', { url: 'https://files.example/x.pdf' });
          yield completed();
        }),
      ),
    );
    const cwd = temporaryFolder();
    const { id } = (await cli(`send -a ${url} -o json go`)).json.task;
    const { stdout, stderr, code } = await cli(`task download -a ${url} ${id} --dir out`, { cwd });
    // A link is no file.
    expect(code).toBe(1);
    const names = ['_profile', 'b-2.txt', 'b-3.json', 'evil-2.sh', 'evil.sh'];
    expect(readdirSync(join(cwd, 'out')).sort()).toEqual(names);
    expect(readdirSync(cwd)).toEqual(['out']);
    expect(readFileSync(join(cwd, 'out/evil.sh'), 'utf8')).toBe('bytes');
    expect(stdout.match(/^Saved: /gm)).toHaveLength(5);
    expect(stderr).toContain('Not downloaded: https://files.example/x.pdf');
    expect((await cli(`task download -a ${url} ${id} --dir out`, { cwd })).code).toBe(2);
    const again = await cli(`task download -a ${url} ${id} --dir out --force --artifact b -o json`, { cwd });
    expect([again.code, again.json.files.length]).toEqual([0, 3]);
  });

  it('goes where the command line says, whatever the .env of a folder or the environment says', async () => {
    const url = await serveMany();
    const cwd = temporaryFolder();
    const { id } = (await cli(`send -a ${url} -o json all`)).json.task;
    const variables = { A2ACLI_DIR: 'elsewhere', A2ACLI_FORCE: 'true' };
    const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`);
    writeFileSync(join(cwd, '.env'), lines.join(''));
    const download = () => cli(`task download -a ${url} ${id}`, { cwd, env: variables });
    const { code, stdout } = await download();
    expect([code, stdout.includes('elsewhere'), existsSync(join(cwd, 'elsewhere'))]).toEqual([
      1,
      false,
      false,
    ]);
    expect((await download()).code).toBe(2);
  });

  it('is not what send does by itself [A2ACLI_SEND_004]', async () => {
    const cwd = temporaryFolder();
    await cli(`send -a ${await serveMany()} all`, { cwd, home: temporaryFolder() });
    expect(readdirSync(cwd)).toEqual([]);
  });
});

describe('task push-config', () => {
  it('creates, shows, lists and deletes webhooks [A2ACLI_PUSH_001, R-CLI-65]', async () => {
    const url = await serveMany();
    const { id } = (await cli(`send -a ${url} -o json --async endless`)).json.task;
    const push = (line: string) => cli(`task push-config ${line} -a ${url} -o json`);
    const made = (await push(`create ${id} --url https://93.184.216.34/hook --id h1 --token s3cret`)).json;
    expect(made).toMatchObject({ id: 'h1', taskId: id, url: 'https://93.184.216.34/hook' });
    expect((await push(`get ${id} h1`)).json).toMatchObject({ id: 'h1' });
    expect((await push(`list ${id}`)).json.configs).toHaveLength(1);
    expect((await push(`delete ${id} h1`)).json).toEqual({});
    expect((await push(`list ${id}`)).json.configs ?? []).toEqual([]);
    expect((await cli(`task push-config create ${id} -a ${url}`)).code).toBe(2);
  });

  it('receive shows the updates that an agent sends, and refuses those without the token [A2ACLI_PUSH_002]', async () => {
    const listening = Promise.withResolvers<string>();
    const receiving = cli('task push-config receive --token s3cret --count 1 -o json', {
      onWrite: (_, text) => /Listening at (\S+)/.test(text) && listening.resolve(/at (\S+)/.exec(text)![1]!),
    });
    const hook = await listening.promise;
    const update = { statusUpdate: { taskId: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING' } } };
    const post = (token: string) =>
      fetch(hook, {
        method: 'POST',
        headers: { 'x-a2a-notification-token': token },
        body: JSON.stringify(update),
      });
    expect((await post('wrong')).status).toBe(401);
    expect((await post('s3cret')).status).toBe(200);
    expect((await receiving).lines).toEqual([update]);
  });
});

describe('chat', () => {
  it('carries the context and the task that waits, and never blocks without a terminal [A2ACLI_CHAT_001, R-CLI-12, R-CLI-57]', async () => {
    const url = await serveMany();
    const { stdout, code, stderr } = await cli(`chat -a ${url}`, { stdin: 'ask\nEUR\n\nhello\n' });
    expect(code).toBe(0);
    const [asked, answered, other] = [...stdout.matchAll(/^Task ID: (.*)$/gm)].map(([, id]) => id);
    expect(answered).toBe(asked);
    expect(other).not.toBe(asked);
    expect(new Set([...stdout.matchAll(/^Context ID: (.*)$/gm)].map(([, id]) => id)).size).toBe(1);
    expect(stderr).not.toContain('> ');
    const json = await cli(`chat -a ${url} -o json`, { stdin: 'hello\nmessage\n' });
    expect(json.lines).toMatchObject([{ task: {} }, { message: {} }]);
  });
});

describe('conformance', () => {
  it('checks a running agent [A2ACLI_CONFORM_001]', async () => {
    const { json, code } = await cli(`conformance -a ${await serveMany()} -o json`);
    expect(code).toBe(0);
    expect(json).toMatchObject({ agent: 'Many', failed: 0 });
    expect(json.findings.length).toBeGreaterThan(5);
    const wrong = await serveMany({ card: { ...manyCard, capabilities: { pushNotifications: false } } });
    const { stdout } = await cli(`conformance -a ${wrong}`);
    expect(stdout).toContain('Pass: without push notifications, a webhook is refused');
  });
});

describe('demo-server', () => {
  it.each(['demo-server', 'server'])(
    '%s serves an agent to try things with [A2ACLI_DEMO_SERVER_001, R-CLI-06]',
    async (name) => {
      const stop = abortedAfterTest();
      const listening = Promise.withResolvers<string>();
      const serving = cli(`${name} --port 0`, {
        signal: stop.signal,
        onWrite: (stream, text) => stream === 'stdout' && listening.resolve(text.replace('URL: ', '').trim()),
      });
      const url = await listening.promise;
      expect((await cli(`send -a ${url} hello`)).stdout).toContain('Content:\n  hello');
      expect(fieldOf((await cli(`send -a ${url} 'ask me'`)).stdout, 'State')).toBe(
        'TASK_STATE_INPUT_REQUIRED',
      );
      expect(fieldOf((await cli(`send -a ${url} fail`)).stdout, 'State')).toBe('TASK_STATE_FAILED');
      stop.abort();
      expect((await serving).code).toBe(0);
    },
  );
});

describe('the skill for agents', () => {
  const folder = join(import.meta.dirname, '..');
  const skills = globSync('**/SKILL.md', { cwd: folder, exclude: ['**/node_modules'] });

  it('is one file, short and generic, that points to help; examples stand beside it [A2ACLI_SKILL_001]', () => {
    expect(skills).toEqual(['SKILL.md']);
    const skill = readFileSync(join(folder, 'SKILL.md'), 'utf8');
    expect(skill.split('\n').length).toBeLessThan(60);
    expect(skill).toMatch(/^---\nname: baton\ndescription: .+\ncompatibility: .+\n---\n/);
    for (const word of ['help', '-o json', '--task-id', '--context-id', 'A2ACLI_BEARER', 'examples.md'])
      expect(skill).toContain(word);
    expect(existsSync(join(folder, 'examples.md'))).toBe(true);
  });

  it('has a check before the first use, and no installer [A2ACLI_SKILL_002]', () => {
    const skill = readFileSync(join(folder, 'SKILL.md'), 'utf8');
    expect(skill).toContain('baton --version');
    expect(skill).not.toMatch(/npm (i|install)|curl .*\| ?sh/);
    expect(skill).not.toMatch(/A2ACLI_[A-Z]+_\d{3}/);
  });

  it('has examples that the command line understands [A2ACLI_SKILL_001]', async () => {
    const examples = readFileSync(join(folder, 'examples.md'), 'utf8');
    const lines = [...examples.matchAll(/^baton (.+)$/gm)].map(([, line]) => line!);
    expect(lines.length).toBeGreaterThan(5);
    for (const line of lines) {
      const { stderr } = await cli(
        line.replaceAll('"$AGENT"', '/dev/null/such/card.json').replace(/ [|>].*$/, ''),
      );
      expect([line, stderr]).toEqual([line, expect.not.stringMatching(/A2ACLI_ERR_USAGE/)]);
    }
  });
});
