import { type AgentClient, connect } from '@batonjs/client';
import { working } from '@batonjs/server';
import { expect, it } from 'vitest';
import { serve } from '../../../test/kit/serve.ts';
import { untilAborted } from '../../../test/kit/until-aborted.ts';
import { serveTasks } from './service.ts';

const endless = () =>
  serve(async function* ({ signal }) {
    yield working('Started');
    await untilAborted(signal);
  });

it('a fault of the gateway is seen by its operator, and not by clients', async () => {
  const canary = 'canary of /srv/gateway/secrets.ts:12';
  const logged: unknown[] = [];
  const client = await connect('http://localhost', { fetch: endless().fetch });
  const broken: AgentClient = new Proxy(client, {
    get(target, name) {
      if (name === 'stream' || name === 'send') throw new Error(canary);
      return Reflect.get(target, name);
    },
  });
  const logger = (_: string, __: string, details?: object) => logged.push(Object(details).err);
  const service = await serveTasks({ types: { broken }, logger });
  await service.post('/task', { taskId: 't', type: 'broken', data: {} });
  const task = await service.ended('t');
  expect(task.error).toEqual({ code: 'INTERNAL_ERROR', message: 'The gateway failed' });
  const shown = [task, (await service.get('/task/t/history')).body, (await service.get('/task')).body];
  expect(JSON.stringify(shown)).not.toContain('canary');
  expect(logged.map(String)).toContain(`Error: ${canary}`);
});
