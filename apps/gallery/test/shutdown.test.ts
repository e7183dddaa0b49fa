import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { connect, textOf } from '@batonjs/client';
import { afterAll, expect, it } from 'vitest';
import { node, run } from '../../../test/kit/processes.ts';
import { builtProgram } from '../../../test/support/built-program.ts';

const folder = mkdtempSync(join(tmpdir(), 'baton-gallery-'));
afterAll(() => rmSync(folder, { recursive: true }));

const program = await builtProgram(new URL('./slow-gallery.ts', import.meta.url));
const start = () => run(node, [program], { env: { PORT: '0', BATON_DATA: join(folder, 'data') } });
const urlIn = (output: string) => output.match(/^ *Agents +(http:\S+)\/agents\//m)![1]!;

it.each(['SIGINT', 'SIGTERM'] as const)(
  'lets a running task finish on %s, then exits with 0',
  async (signal) => {
    await using gallery = start();
    const url = urlIn(await gallery.until(/Ctrl-C/));
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    const agent = await connect(`${url}/agents/slow`);
    const file = join(folder, signal);
    const { task } = await agent.send(file, { returnImmediately: true });

    gallery.signal(signal);
    // A package manager passes on a signal that the terminal has sent already.
    gallery.signal(signal);
    while ((await fetch(`${url}/readyz`)).status !== 503) await pause(5);
    const refused = await fetch(`${url}/agents/slow/message:send`, {
      method: 'POST',
      headers: { 'a2a-version': '1.0', 'content-type': 'application/json' },
      body: JSON.stringify({ message: { messageId: 'm-2', role: 'ROLE_USER', parts: [{ text: file }] } }),
    });
    expect(refused.status).toBe(503);
    writeFileSync(file, '');
    expect(await gallery.ended).toBe(0);

    await using again = start();
    const later = await connect(`${urlIn(await again.until(/Ctrl-C/))}/agents/slow`);
    const finished = await later.getTask({ id: task!.id });
    expect(finished.status.state).toBe('TASK_STATE_COMPLETED');
    expect(textOf(finished.artifacts?.[0])).toBe('Released');
  },
);
