import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { rawClient } from '../../../../../test/kit/http/raw-mcp-client.ts';
import { repetitions } from '../../../../../test/kit/repetitions.ts';
import { temporaryFolder } from '../../../../../test/kit/temporary-folder.ts';
import { officialHost } from '../official-client.ts';
import { startServer } from './served-process.ts';

const open = (folder: string, gate: string) => writeFileSync(join(folder, gate), '');

describe('the official client of a server that is killed', () => {
  it('[R-MT-32, R-MT-38, R-MT-77, R-MT-84] starts a job, is closed, comes back with the id, answers the question, and gets the result', async () => {
    const folder = temporaryFolder();
    const first = await startServer(folder);
    const before = await officialHost(first.url);
    const started = await before.session.callTool('job', {});
    if (started.kind !== 'task') throw new Error('The job was no task');
    let kept = '';
    await started.handoff((reference) => {
      kept = JSON.stringify(reference);
    });
    await before.session.close();
    await first.kill();

    const second = await startServer(folder, first.port);
    const asked: string[] = [];
    const after = await officialHost(second.url, (params) => {
      asked.push(String(params.message));
      return { action: 'accept', content: { city: 'Rome' } };
    });
    const resumed = await after.session.resumeTask(JSON.parse(kept));
    open(folder, 'first');
    // The server dies once more when the answer has arrived.
    const raw = rawClient(second.url);
    const { taskId } = JSON.parse(kept);
    const settled = resumed.settle();
    await expect.poll(async () => (await raw.get(taskId)).result.statusMessage).toBe('Second half');
    await resumed.detach();
    await settled.catch(() => {});
    await second.kill();
    const third = await startServer(folder, first.port);
    const last = await officialHost(third.url);
    const again = await last.session.resumeTask(JSON.parse(kept));
    open(folder, 'second');
    const { outcome } = await again.settle();
    expect(outcome).toMatchObject({
      status: 'completed',
      result: { content: [{ type: 'text', text: 'Booked in Rome' }] },
    });
    expect(asked).toEqual(['Which city?']);
    await third.stop();
  });

  it('[R-MT-32] never has a handle whose task is not found, whenever the server is killed', async () => {
    const folder = temporaryFolder();
    let server = await startServer(folder);
    const { port } = server;
    for (let n = 0; n < repetitions(1, 12); n += 1) {
      const client = rawClient(server.url);
      const calls = Promise.all(
        Array.from({ length: 5 }, () => client.tool('soon', { number: n }).catch(() => undefined)),
      );
      // Before the reply, in the middle of it, or after it.
      await sleep(5 + n * 3);
      await server.kill();
      const answers = await calls;
      server = await startServer(folder, port);
      for (const answer of answers) {
        if (!answer?.result?.taskId) continue;
        const found = await rawClient(server.url).get(answer.result.taskId);
        expect(found.result?.taskId).toBe(answer.result.taskId);
      }
    }
    // The reply with the handle arrived: the task goes on in the next process.
    const { taskId } = (await rawClient(server.url).tool('soon', { number: 1 })).result;
    await server.kill();
    server = await startServer(folder, port);
    const client = rawClient(server.url);
    await expect.poll(async () => (await client.get(taskId)).result.status).toBe('completed');
    await server.stop();
  });
});

it('[R-MT-38] many pollers of three processes on one store each get the result of their own task', async () => {
  const folder = temporaryFolder();
  const servers = await Promise.all([startServer(folder), startServer(folder), startServer(folder)]);
  const clients = servers.map(({ url }) => rawClient(url));
  const poll = async (number: number) => {
    const at = (n: number) => clients[(number + n) % clients.length]!;
    const { taskId, pollIntervalMs } = (await at(0).tool('soon', { number })).result;
    for (let n = 1; ; n += 1) {
      const { result } = await at(n).get(taskId);
      if (result.status === 'completed') return result.result.content[0].text;
      expect(result.status).toBe('working');
      await sleep(pollIntervalMs);
    }
  };
  const numbers = Array.from({ length: repetitions(15, 100) }, (_, n) => n);
  expect(await Promise.all(numbers.map(poll))).toEqual(numbers.map((n) => `Number ${n}`));
});
