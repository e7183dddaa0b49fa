import { execFileSync } from 'node:child_process';
import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { listen } from '../../../test/kit/listen.ts';
import { serveMany, serveSteps } from './agents.ts';
import { cli, fieldOf } from './cli.ts';
import { serveRpc, taskOf } from './rpc.ts';

const label = /^[A-Z][A-Za-z ]+: \S.*$|^[A-Z][A-Za-z ]+:$|^ {2}.*$|^$/;

describe('text output', () => {
  it('has the ids and the state of every command that touches a task [A2ACLI_OUT_001, R-CLI-51]', async () => {
    const url = await serveMany();
    const { id } = (await cli(`send -a ${url} -o json ask`)).json.task;
    const lines = [
      `send -a ${url} hello`,
      `send -a ${url} --async hello`,
      `send -a ${url} --stream hello`,
      `task get -a ${url} ${id}`,
      `task list -a ${url}`,
      `task subscribe -a ${url} ${id}`,
      `task download -a ${url} ${id}`,
      `task cancel -a ${url} ${id}`,
    ];
    for (const line of lines) {
      const { stdout } = await cli(line);
      for (const name of ['Task ID', 'Context ID', 'State']) expect(fieldOf(stdout, name), line).toBeTruthy();
    }
  });

  it('is one field per line, or a block with an empty line behind it [A2ACLI_OUT_005, R-CLI-51, R-CLI-52]', async () => {
    const url = await serveMany();
    for (const line of [`send -a ${url} all`, `send -a ${url} --stream all`, `send -a ${url} ask`]) {
      const { stdout } = await cli(line);
      for (const each of stdout.split('\n')) expect(each).toMatch(label);
      expect(stdout).toMatch(
        /Content:\n {2}Hello\n\n {2}World\n\n|Status Message:\n {2}Which currency\?\n\n/,
      );
    }
    const streamed = (await cli(`send -a ${url} --stream hello`)).stdout;
    expect(streamed.slice(streamed.lastIndexOf('Task ID:'))).toMatch(
      /^Task ID: \S+\nContext ID: \S+\nState: TASK_STATE_COMPLETED\n$/,
    );
  });

  it('has no control characters of an agent, and the same bytes with and without a terminal [A2ACLI_OUT_005, R-CLI-51, R-CLI-110]', async () => {
    const url = await serveMany();
    const { id } = (await cli(`send -a ${url} -o json colours`)).json.task;
    const plain = await cli(`task get -a ${url} ${id}`);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: this is what must not be there
    expect(plain.stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    expect(plain.stdout).toContain('red');
    const terminal = await cli(`task get -a ${url} ${id} --wait`, { isTTY: true, env: { TERM: 'xterm' } });
    expect(terminal.stdout).toBe(plain.stdout);
  });

  it('is the default, and concise; --verbose shows what was exchanged [A2ACLI_DEFAULT_001, R-CLI-21, R-CLI-33]', async () => {
    const url = await serveMany();
    const concise = await cli(`send -a ${url} hello`);
    expect(concise.stdout).not.toContain('ROLE_USER');
    expect((await cli(`send -a ${url} --verbose hello`)).stdout).toContain('Role: ROLE_USER');
  });
});

describe('JSON output', () => {
  it('is exactly one document without --stream [A2ACLI_OUT_002, R-CLI-50, R-CLI-53, R-CLI-60, R-CLI-61]', async () => {
    const url = await serveMany();
    const { json, stderr } = await cli(`send -a ${url} -o json hello`);
    expect(Object.keys(json)).toEqual(['task']);
    const { id } = json.task;
    // What is for people stands on standard error.
    expect(stderr).toContain(`Waiting for task ${id}:`);
    for (const line of [`task get -a ${url} ${id}`, `task subscribe -a ${url} ${id}`])
      expect((await cli(`${line} -o json`)).json).toMatchObject({ id });
    expect((await cli(`card get ${url} -o json --stream`)).lines).toHaveLength(1);
  });

  it('is one document per line with --stream, as it happens [A2ACLI_OUT_003, R-CLI-54, R-CLI-60]', async () => {
    const gates = [1, 2].map(() => Promise.withResolvers<void>());
    const url = await serveSteps(gates.map(({ promise }) => promise));
    const seen: string[] = [];
    const { lines, stdout } = await cli(`send -a ${url} -o json --stream go`, {
      onWrite(stream, written) {
        if (stream !== 'stdout') return;
        seen.push(written);
        // The next step waits until this one was written.
        for (const [n, gate] of gates.entries()) if (written.includes(`Step ${n + 1}`)) gate.resolve();
      },
    });
    expect(seen.every((written) => written.endsWith('\n') && !written.slice(0, -1).includes('\n'))).toBe(
      true,
    );
    expect(stdout).toBe(seen.join(''));
    expect(lines.at(-1).statusUpdate.status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('has the members of the protocol, and no others [A2ACLI_OUT_002, R-CLI-55]', async () => {
    const url = await serveMany();
    const { json } = await cli(`send -a ${url} -o json hello`);
    const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: json.task.id } });
    const { result } = (await (await fetch(url, { method: 'POST', headers, body })).json()) as {
      result: unknown;
    };
    expect((await cli(`task get -a ${url} ${json.task.id} -o json`)).json).toEqual(result);
  });

  it('ends with the error as its last line when a stream fails [A2ACLI_OUT_003, A2ACLI_OUT_004, R-CLI-70]', async () => {
    const { line } = await serveRpc(({ method, send }) => {
      if (method === 'SendStreamingMessage') return void send({ task: taskOf('WORKING') });
      return { error: { code: -32001, message: 'Task not found' } };
    });
    const { lines, code } = await cli(`send ${line} -o json --stream --poll-interval 5ms x`);
    expect(lines[0].task.id).toBe('t');
    expect(lines.at(-1)).toEqual({
      error: {
        code: 'TaskNotFoundError',
        message: expect.any(String),
        hint: expect.stringContaining('task get t'),
        a2aCode: -32001,
      },
    });
    expect(code).toBe(1);
  });
});

describe('an error', () => {
  it.each([
    ['jsonrpc', -32001],
    ['rest', 404],
  ])(
    'of the agent has its own name over %s, and the code of the transport [A2ACLI_OUT_004, R-CLI-70, R-CLI-72]',
    async (transport, a2aCode) => {
      const url = await serveMany();
      const { json, code } = await cli(`task get -a ${url} --transport ${transport} none -o json`);
      expect(code).toBe(1);
      expect(json.error).toEqual({
        code: 'TaskNotFoundError',
        message: expect.any(String),
        hint: expect.any(String),
        a2aCode,
      });
    },
  );

  it('stands on standard error in text, with a hint [A2ACLI_OUT_004, R-CLI-73]', async () => {
    const url = await serveMany();
    const { stdout, stderr } = await cli(`task get -a ${url} none`);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^Error: .+\nCode: TaskNotFoundError\nHint: .+\n$/);
  });

  it('of JSON-RPC has the name that the SDKs give it [R-CLI-71]', async () => {
    const rows = [
      [-32700, 'JSONParseError'],
      [-32600, 'InvalidRequestError'],
      [-32601, 'MethodNotFoundError'],
      [-32602, 'InvalidParamsError'],
      [-32603, 'InternalError'],
      [-32006, 'InvalidAgentResponseError'],
    ] as const;
    for (const [number, name] of rows) {
      const { line } = await serveRpc(() => ({ error: { code: number, message: 'No' } }));
      const { json } = await cli(`task cancel ${line} t -o json`);
      expect(json.error).toMatchObject({ code: name, a2aCode: number });
    }
  });
});

describe('the exit code', () => {
  it('is 0 whatever becomes of the task, which a warning names [A2ACLI_EXIT_001, A2ACLI_EXIT_002, R-CLI-88]', async () => {
    const url = await serveMany();
    for (const format of ['text', 'json']) {
      const { code, stderr } = await cli(`send -a ${url} -o ${format} fail`);
      expect(code).toBe(0);
      expect(stderr).toContain('Warning: The task ended as TASK_STATE_FAILED');
    }
    expect((await cli(`send -a ${url} ask`)).code).toBe(0);
  });

  it('is 6 with --fail for a task that failed, and for no other', async () => {
    const url = await serveMany();
    const { id } = (await cli(`send -a ${url} -o json fail`)).json.task;
    const lines = [
      `send fail`,
      `send --stream fail`,
      `task get ${id} --wait`,
      `task subscribe ${id}`,
      'send hello',
    ];
    for (const line of lines) {
      const ran = await Promise.all(
        [`${line} -a ${url} --fail`, `${line} -a ${url}`].map((each) => cli(each)),
      );
      expect([line, ...ran.map(({ code }) => code)]).toEqual([line, line === 'send hello' ? 0 : 6, 0]);
    }
  });

  it('is 2 for a command line that makes no sense, and agrees with the error [A2ACLI_EXIT_001, R-CLI-80, R-CLI-88]', async () => {
    for (const line of ['', 'frob', 'send --nope', 'task', 'task get', '-o json send --output xml hi'])
      expect([line, (await cli(line)).code]).toEqual([line, 2]);
    const { json, code } = await cli('task get -o json');
    expect([json.error.code, code]).toEqual(['A2ACLI_ERR_USAGE', 2]);
  });

  it('is 1 for anything else on this side [A2ACLI_EXIT_001, R-CLI-87]', async () => {
    const url = await listen(createServer((_, response) => response.end('x'.repeat(17_000_000))));
    const { json, code } = await cli(`task cancel -e ${url} --transport jsonrpc t -o json`);
    expect([json.error.code, code]).toEqual(['A2ACLI_ERR_INTERNAL', 1]);
  });
});

describe('help', () => {
  it('explains every command with an example, and the version is shown [A2ACLI_CLI_001, R-CLI-03, R-CLI-35]', async () => {
    for (const flag of ['-v', '--version']) expect((await cli(flag)).stdout).toBe('1.2.3\n');
    const { stdout, code } = await cli('help');
    expect(code).toBe(0);
    expect(stdout).toBe((await cli('--help')).stdout);
    expect((await cli('help send')).stdout).toBe((await cli('send --help')).stdout);
    expect((await cli('send -h')).stdout).toContain('Example:\n  $ baton send');
  });

  it('shows the defaults that are in effect, and flags override all of them [A2ACLI_DEFAULT_001, R-CLI-40]', async () => {
    const env = { A2ACLI_OUTPUT: 'json', A2ACLI_BEARER: 's3cret' };
    const { stdout } = await cli('send --help', { env });
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('[A2ACLI_OUTPUT; default: json (environment)]');
    expect(stdout).not.toContain('s3cret');
    const plain = (await cli('send --help')).stdout.replaceAll(/\s+/g, ' ');
    const shipped = [
      '[A2ACLI_TRANSPORT; default: the order of the card]',
      '[A2ACLI_ASYNC; default: off, send waits]',
      '[A2ACLI_OUTPUT; default: text]',
      '[A2ACLI_VERBOSE; default: off, output is concise]',
      '[A2ACLI_A2A_VERSION; default: the highest that both know, 1.0 or later]',
      '[A2ACLI_INSECURE; default: off, certificates are verified]',
    ];
    for (const each of shipped) expect(plain).toContain(each);
    const url = await serveMany();
    expect((await cli(`send -a ${url} -o text hello`, { env })).stdout).toContain('State: ');
  });

  it('prints a script for bash that completes commands and flags [A2ACLI_CLI_002, R-CLI-11]', async () => {
    const { stdout } = await cli('completion bash');
    const complete = (...words: readonly string[]) => {
      const line = `COMP_WORDS=(baton ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}`;
      const script = `${stdout}\n${line}; _baton; echo "\${COMPREPLY[@]}"`;
      return execFileSync('bash', ['-c', script], { encoding: 'utf8' }).trim().split(' ');
    };
    expect(complete('ta')).toEqual(['task', 'tasks']);
    expect(complete('task', 'push-config', 'cr')).toEqual(['create']);
    expect(complete('send', '--agent')).toEqual(['--agent-card']);
    expect(complete('task', 'get', '-a', 'localhost:4000', '--his')).toEqual(['--history']);
  });
});
