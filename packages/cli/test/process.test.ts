import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { inputRequired } from '@batonjs/server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { node } from '../../../test/kit/processes.ts';
import { rpc, say } from '../../../test/kit/rpc.ts';
import { temporaryFolder } from '../../../test/kit/temporary-folder.ts';
import { builtProgram } from '../../../test/support/built-program.ts';
import { serveMany, serveSteps } from './agents.ts';
import { fieldOf } from './cli.ts';
import { usedStore } from './used-store.ts';

const { PATH, NODE_COMPILE_CACHE } = process.env;
const main = join(import.meta.dirname, '../src/main.ts');
const program = await builtProgram(pathToFileURL(main));

/** The command as a process of its own, with a home folder of its own. */
function start(args: readonly string[], command: readonly string[] = [program]) {
  const child = spawn(node, [...command, ...args], {
    env: { PATH, NODE_COMPILE_CACHE, HOME: temporaryFolder() },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const written = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      written[name] += text;
    });
  return { child, written, ended: once(child, 'close').then(([code]) => code as number | null) };
}

describe('the process', () => {
  it('writes the result to standard output, and ends with the exit code', async () => {
    const url = await serveMany();
    const done = start(['send', '-a', url, 'hello']);
    expect(await done.ended).toBe(0);
    expect(fieldOf(done.written.stdout, 'State')).toBe('TASK_STATE_COMPLETED');
    const failed = start(['task', 'get', '-a', url, 'none']);
    expect([await failed.ended, failed.written.stdout]).toEqual([1, '']);
  });

  it('ends with 130 at Ctrl-C in the middle of a stream, and what it wrote is whole', async () => {
    const url = await serveMany();
    const { child, written, ended } = start(['send', '-a', url, '-o', 'json', '--stream', 'endless']);
    await new Promise<void>((resolve) =>
      child.stdout.on('data', () => written.stdout.includes('Working') && resolve()),
    );
    child.kill('SIGINT');
    expect(await ended).toBe(130);
    for (const line of written.stdout.trimEnd().split('\n')) expect(() => JSON.parse(line)).not.toThrow();
    expect(written.stderr).toContain('Waiting for task ');
  });

  it('ends in silence when its reader has enough', async () => {
    const gate = Promise.withResolvers<void>();
    const url = await serveSteps([gate.promise, Promise.resolve(), new Promise(() => {})]);
    const { child, written, ended } = start(['send', '-a', url, '--stream', 'hello']);
    await once(child.stdout, 'data');
    child.stdout.destroy();
    gate.resolve();
    expect(await ended).toBe(130);
    expect(written.stderr).not.toContain('EPIPE');
  });

  it('ends with 0 when its reader has enough of what it does anyway', async () => {
    const url = await serveMany();
    const { child, ended } = start(['send', '-a', url, 'hello']);
    child.stdout.destroy();
    expect(await ended).toBe(0);
  });

  it('says how to go on with many tasks when its reader has enough', async () => {
    const { file, server } = usedStore({
      agent: async function* () {
        yield inputRequired('What?');
      },
    });
    for (let n = 0; n < 20; n++) await rpc(server, 'SendMessage', { message: say('ask') });
    const words = ['tasks', '--store', file, '--agent', 'used', 'cancel', '--all', '--yes', '--rate', '10/s'];
    const { child, written, ended } = start([...words, '-o', 'json', '--stream']);
    await once(child.stdout, 'data');
    child.stdout.destroy();
    expect([await ended, written.stderr]).toEqual([1, expect.stringContaining('to go on')]);
  });

  it.skipIf(!existsSync('/dev/full'))('does not end with 0 if its output is lost', async () => {
    const url = await serveMany();
    const words = ['-c', '"$0" "$@" > /dev/full', node, program, 'card', 'get', '-a', url];
    const env = { PATH, NODE_COMPILE_CACHE, HOME: temporaryFolder() };
    const ended = promisify(execFile)('/bin/sh', words, { env });
    await expect(ended).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('ENOSPC') });
  });

  it('does all of its work on a file, where no connection keeps it alive', async () => {
    const { file, server } = usedStore({
      agent: async function* ({ text }) {
        if (text === 'ask') yield inputRequired('What?');
        else await new Promise(() => {});
      },
    });
    for (const text of ['ask', 'ask', 'ask']) await rpc(server, 'SendMessage', { message: say(text) });
    const configuration = { returnImmediately: true };
    const { task } = await rpc(server, 'SendMessage', { message: say('never'), configuration });
    const tasks = (...args: string[]) =>
      start(['tasks', '--store', `sqlite:${file}`, '--agent', 'used', ...args, '-o', 'json']);
    const canceled = tasks('cancel', '--state', 'input-required', '--yes', '--rate', '10/s');
    expect(await canceled.ended).toBe(0);
    expect(JSON.parse(canceled.written.stdout)).toMatchObject({ done: 3, isOver: true });
    const erased = tasks('erase', task.id);
    expect([await erased.ended, JSON.parse(erased.written.stdout)]).toMatchObject([
      0,
      { tasks: 1, left: [] },
    ]);
  });

  it('calls itself as it was called', async () => {
    const called = join(temporaryFolder(), 'a2a-cli.ts');
    symlinkSync(main, called);
    const { written, ended } = start(['help'], ['--conditions=@batonjs/source', called]);
    expect(await ended).toBe(0);
    expect(written.stdout).toContain('Usage: a2a-cli ');
  });
});
