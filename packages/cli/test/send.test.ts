import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../test/kit/temporary-folder.ts';
import { manyCard, serveMany } from './agents.ts';
import { abortedAfterTest, cli, fieldOf } from './cli.ts';
import { message, passOn, serveRpc } from './rpc.ts';

describe('send', () => {
  it('sends a message and waits for its result [A2ACLI_SEND_001, R-CLI-10, R-CLI-38, R-CLI-60]', async () => {
    const url = await serveMany();
    const { code, stdout } = await cli(`send -a ${url} hello`);
    expect(code).toBe(0);
    expect(fieldOf(stdout, 'State')).toBe('TASK_STATE_COMPLETED');
    expect(stdout).toContain('You said hello');
    const { json } = await cli(`send -a ${url} -o json hello`);
    expect(json).toMatchObject({ task: { status: { state: 'TASK_STATE_COMPLETED' } } });
    expect((await cli(`send -a ${url} -o json message`)).json).toMatchObject({
      message: { role: 'ROLE_AGENT', parts: [{ text: 'Just a message' }] },
    });
  });

  it('with --async gives the ids at once, and its aliases do as well [A2ACLI_SEND_002, A2ACLI_OUT_006, R-CLI-23]', async () => {
    const url = await serveMany();
    for (const flag of ['--async', '--return-immediately', '--no-wait']) {
      const { stdout, code } = await cli(`send -a ${url} ${flag} endless`);
      expect(code).toBe(0);
      expect(fieldOf(stdout, 'Task ID')).toBeTruthy();
      expect(fieldOf(stdout, 'Context ID')).toBeTruthy();
      expect(fieldOf(stdout, 'State')).toMatch(/SUBMITTED|WORKING/);
      const follow = fieldOf(stdout, 'Follow');
      expect(follow).toBe(`baton task get ${fieldOf(stdout, 'Task ID')} --wait -a ${url}`);
    }
    const { json, stderr } = await cli(`send -a ${url} -o json --async endless`);
    expect(json.task).toMatchObject({ id: expect.any(String), contextId: expect.any(String) });
    expect(stderr).toContain(`Follow: baton task get ${json.task.id} --wait`);
  });

  it('with --stream shows events as they happen, and ends after a single message [A2ACLI_SEND_003, R-CLI-22]', async () => {
    const url = await serveMany();
    const { lines, code } = await cli(`send -a ${url} -o json --stream hello`);
    expect(code).toBe(0);
    const kinds = lines.flatMap((event) => Object.keys(event));
    expect(kinds[0]).toBe('task');
    expect(kinds.slice(-2)).toEqual(['artifactUpdate', 'statusUpdate']);
    expect(lines.at(-1).statusUpdate.status.state).toBe('TASK_STATE_COMPLETED');
    const message = await cli(`send -a ${url} -o json --stream message`);
    expect(message.lines).toMatchObject([{ message: { parts: [{ text: 'Just a message' }] } }]);
    expect(message.code).toBe(0);
  });

  it('with --stream polls an agent that cannot stream, and shows its states [A2ACLI_SEND_003, R-CLI-05, R-CLI-54]', async () => {
    const url = await serveMany({ card: { ...manyCard, capabilities: { streaming: false } } });
    const { lines, code } = await cli(`send -a ${url} -o json --stream --poll-interval 10ms hello`);
    expect(code).toBe(0);
    expect(lines.every((event) => event.task)).toBe(true);
    expect(lines.at(-1).task.status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('shows text, data and files of artifacts, and leaves out no part [A2ACLI_SEND_004, R-CLI-52]', async () => {
    const url = await serveMany();
    const { stdout } = await cli(`send -a ${url} all`);
    expect(stdout).toContain('Artifact: everything (everything)');
    expect(stdout).toContain('Content:\n  Hello\n\n  World\n\n');
    expect(stdout).toContain('Content Data:\n  {\n    "total": 3\n  }\n\n');
    expect(stdout).toContain('Content File: a.bin (application/x-test, 5 bytes)\n');
    expect(stdout).toContain('Content File: b.pdf (application/pdf, at https://files.example/b.pdf)\n');
  });

  it('binds --media-type to the part before it, and refuses it before all parts [A2ACLI_SEND_005]', async () => {
    const url = await serveMany();
    const home = temporaryFolder();
    writeFileSync(join(home, 'a.csv'), '1,2');
    const partsOf = async (flags: string) =>
      (await cli(`send -a ${url} -o json --text parts ${flags}`, { home })).json.task.artifacts[0].parts[0]
        .data;
    const file = join(home, 'a.csv');
    expect(await partsOf(`--file ${file} --media-type text/x-mine --data 1`)).toEqual([
      { text: 'parts' },
      { raw: 'MSwy', filename: 'a.csv', mediaType: 'text/x-mine' },
      { data: 1 },
    ]);
    expect((await partsOf(`--file ${file}`))[1].mediaType).toBe('text/csv');
    const { code, stderr } = await cli(`send -a ${url} --media-type text/plain --text hello`);
    expect(code).toBe(2);
    expect(stderr).toContain('A2ACLI_ERR_USAGE');
  });

  it('sends parts in their order; - is standard input, a URL is not fetched [A2ACLI_SEND_006, R-CLI-01, R-CLI-36]', async () => {
    const url = await serveMany();
    const flags =
      '--data-part - --file-part https://files.example/x.pdf --file-part HTTP://files.example --text-part last';
    const { json } = await cli(`send -a ${url} -o json parts ${flags}`, { stdin: '{"n": 1}' });
    expect(json.task.artifacts[0].parts[0].data).toEqual([
      { text: 'parts' },
      { data: { n: 1 } },
      { url: 'https://files.example/x.pdf', filename: 'x.pdf' },
      { url: 'HTTP://files.example', filename: 'file' },
      { text: 'last' },
    ]);
    for (const wrong of ['--data {', '--file /dev/null/such/file', '']) {
      const ran = await cli(`send -a ${url} -o json ${wrong}`);
      expect(ran).toMatchObject({ code: 2, json: { error: { code: 'A2ACLI_ERR_USAGE' } } });
    }
  });

  it('sends metadata and service parameters [R-CLI-27, R-CLI-28]', async () => {
    const { line, calls } = await serveRpc(() => message);
    const flags = `--metadata '{"tier":1}' --svc-param x-team:blue`;
    expect((await cli(`send ${line} ${flags} hello`)).code).toBe(0);
    expect(calls[0]!.params.metadata).toEqual({ tier: 1 });
    expect(calls[0]!.headers['x-team']).toBe('blue');
  });
});

describe('a conversation', () => {
  it('goes on in a context [A2ACLI_INTERACT_001, R-CLI-26]', async () => {
    const url = await serveMany();
    const first = (await cli(`send -a ${url} -o json hello`)).json.task;
    const second = (await cli(`send -a ${url} -o json --context-id ${first.contextId} again`)).json.task;
    expect(second.contextId).toBe(first.contextId);
    expect(second.id).not.toBe(first.id);
  });

  it('goes on in a task, with or without its context [A2ACLI_INTERACT_002, R-CLI-26]', async () => {
    const url = await serveMany();
    for (const withContext of [true, false]) {
      const asked = (await cli(`send -a ${url} -o json ask`)).json.task;
      expect(asked.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
      const context = withContext ? `--context-id ${asked.contextId}` : '';
      const done = (await cli(`send -a ${url} -o json --task-id ${asked.id} ${context} EUR`)).json.task;
      expect(done).toMatchObject({ id: asked.id, status: { state: 'TASK_STATE_COMPLETED' } });
    }
  });

  it('never starts a new task where the given one is refused [A2ACLI_INTERACT_002, A2ACLI_INTERACT_003, R-CLI-93]', async () => {
    const url = await serveMany();
    const done = (await cli(`send -a ${url} -o json hello`)).json.task;
    const refused = {
      '--task-id none': 'Check the id',
      [`--task-id ${done.id}`]: 'begin another one',
      [`--task-id ${done.id} --context-id other`]: '--debug',
    };
    for (const [flags, hint] of Object.entries(refused)) {
      const ran = await cli(`send -a ${url} -o json ${flags} more`);
      expect(ran.code).toBe(1);
      expect(ran.json.error.hint).toContain(hint);
    }
    expect((await cli(`task list -a ${url} -o json`)).json.tasks).toHaveLength(1);
  });

  it('never invents or keeps an id [A2ACLI_INTERACT_003, A2ACLI_INTERACT_005, R-CLI-45]', async () => {
    const url = await serveMany();
    const home = temporaryFolder();
    const { line, calls } = await serveRpc((call) =>
      call.method === 'SendMessage' ? passOn(url, call) : undefined,
    );
    for (const _ of [1, 2]) await cli(`send ${line} hello`, { home });
    const sent = calls.filter(({ method }) => method === 'SendMessage');
    for (const { params } of sent) {
      expect(params.message).not.toHaveProperty('taskId');
      expect(params.message).not.toHaveProperty('contextId');
    }
    expect(sent).toHaveLength(2);
  });

  it('reports ids and state, and the command that goes on [A2ACLI_INTERACT_004, R-CLI-56]', async () => {
    const url = await serveMany();
    const { stdout } = await cli(`send -a ${url} ask`);
    const id = fieldOf(stdout, 'Task ID')!;
    expect(fieldOf(stdout, 'Context ID')).toBeTruthy();
    expect(fieldOf(stdout, 'State')).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(fieldOf(stdout, 'Resume')).toBe(`baton send --task-id ${id} "…" -a ${url}`);
    const inJson = await cli(`send -a ${url} -o json ask`);
    expect(inJson.stderr).toContain(`Resume: baton send --task-id ${inJson.json.task.id}`);
  });

  it('stops at an authorization that is required [A2ACLI_AUTH_011, A2ACLI_TASK_POLL_003, R-CLI-90]', async () => {
    const url = await serveMany();
    const { stdout, code } = await cli(`send -a ${url} auth`);
    expect(code).toBe(0);
    expect(fieldOf(stdout, 'State')).toBe('TASK_STATE_AUTH_REQUIRED');
    expect(stdout).toContain('Sign in first');
    expect(fieldOf(stdout, 'Resume')).toContain('send --task-id');
  });

  it('that is interrupted ends with 130 and has told its id [R-CLI-92]', async () => {
    const url = await serveMany();
    const interrupt = abortedAfterTest();
    const { code, stdout, stderr } = await cli(`send -a ${url} endless`, {
      signal: interrupt.signal,
      onWrite: (stream, written) => {
        if (stream === 'stderr' && written.startsWith('Waiting for task')) interrupt.abort();
      },
    });
    expect({ code, stdout }).toEqual({ code: 130, stdout: '' });
    expect(stderr).toMatch(/^Waiting for task [\da-f-]{36}: /);
  });
});
