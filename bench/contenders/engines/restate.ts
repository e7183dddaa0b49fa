import { importFrom } from '../../engines/installed.ts';
import { options, type Recorded, resultOf, serve, step } from './engine.ts';

interface Context {
  run(name: string, run: () => Promise<Recorded>): Promise<Recorded>;
}

interface Sdk {
  service(definition: { name: string; handlers: { task(context: Context): Promise<string> } }): unknown;
  serve(options: { services: readonly unknown[]; port: number }): Promise<number>;
}

if (options.store !== 'restate') throw new Error('This is for Restate');
const { ingress, admin, port } = options;
process.env.RESTATE_LOGGING = 'ERROR';
const restate = importFrom<Sdk>(options.engines!, '@restatedev/restate-sdk');
const service = restate.service({
  name: 'engine',
  handlers: {
    async task(context) {
      const one = await context.run('one', () => step());
      const two = await context.run('two', () => step(one));
      return resultOf(await context.run('three', () => step(two)));
    },
  },
});
await restate.serve({ services: [service], port });

async function call<Answer>(url: string, method: string, body?: unknown): Promise<Answer> {
  const sent = body !== undefined && {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  };
  const response = await fetch(url, { method, ...sent });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Answer;
}

await call(`${admin}/deployments`, 'POST', { uri: `http://127.0.0.1:${port}`, force: true });

serve({
  run: () => call(`${ingress}/engine/task`, 'POST'),
  begin: async () =>
    (await call<{ invocationId: string }>(`${ingress}/engine/task/send`, 'POST')).invocationId,
  result: (id) => call(`${ingress}/restate/invocation/${id}/attach`, 'GET'),
});
