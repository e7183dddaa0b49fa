import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from '@batonjs/client';
import { sqliteStore } from '@batonjs/store-sqlite';
import { clientTelemetry, telemetry } from '@batonjs/telemetry';
import { describe, expect, it } from 'vitest';
import { serveTasks } from '../../packages/task-gateway/test/service.ts';
import { openSocket } from '../../packages/task-gateway/test/socket.ts';
import { observed } from '../../packages/telemetry/test/observed.ts';
import { closedAfterTest } from '../kit/closed-after-test.ts';
import { temporaryFolder } from '../kit/temporary-folder.ts';
import { canaries } from './canaries.ts';
import { type Failure, serveEchoing } from './echoing-agent.ts';

const failures: readonly Failure[] = ['refuses', 'breaks', 'says an error', 'talks nonsense'];

describe('no secret leaves a gateway', () => {
  it.each(failures)('whose agent %s and repeats what it was sent', async (fail) => {
    const secrets = canaries();
    const folder = temporaryFolder();
    const { providers, spans, metrics } = observed();
    const echoing = await serveEchoing(secrets, 'bearer');
    echoing.fail = fail;
    const agent = await connect(echoing.url, {
      headers: { authorization: `Bearer ${secrets.plant('token for the agent')}` },
      retry: false,
    });
    const caller = {
      authorization: `Bearer ${secrets.plant('token of the caller')}`,
      cookie: `session=${secrets.plant('cookie of the caller')}`,
    };
    const service = await serveTasks({
      types: { echo: agent },
      store: closedAfterTest(sqliteStore(join(folder, 'tasks.db'))),
      unreachableMs: 1,
      telemetry: { server: telemetry(providers), client: clientTelemetry(providers) },
      logger: (...line) => secrets.leave('the log', line),
      authenticate({ headers }) {
        secrets.arrive(JSON.stringify(headers));
        return headers.authorization ? { scope: 'someone' } : undefined;
      },
    });
    const read = async (path: string, body?: object, headers: Record<string, string> = caller) => {
      const answer = body ? await service.post(path, body, headers) : await service.get(path, headers);
      secrets.leave(path, [answer.status, [...answer.headers], answer.body]);
      return answer;
    };
    const socket = await openSocket(service.url, '', { headers: caller });
    const accepted = await read('/task', { taskId: 't', type: 'echo', data: { text: 'Hello' } });
    expect(accepted.status).toBe(202);
    socket.send({ event: 'subscribe', taskId: 't' });
    await socket.next(({ status }) => status === 'failed');
    for (const path of ['/task/t', '/task/t/history', '/task', '/task/none']) await read(path);
    await read('/task/t/cancel', {});
    await read('/task/t/input', { values: {} });
    await read('/task', { taskId: 't', type: 'none', data: {} });
    await read('/task', undefined, { cookie: caller.cookie });
    secrets.leave('a WebSocket', socket.frames);
    for (const { name, attributes, events, links, status } of spans())
      secrets.leave('a span', { name, attributes, events, links, status });
    secrets.leave('metrics', await metrics());
    for (const file of readdirSync(folder)) secrets.leave('a file', readFileSync(join(folder, file)));
    // The operator's own log has what the agent said.
    secrets.check(fail === 'talks nonsense' ? [] : ['token for the agent in the log']);
  });
});
