import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '@batonjs/client';
import { connectTasks } from '@batonjs/task-gateway/client';
import { expect, it, onTestFinished } from 'vitest';
import { listen } from '../../../test/kit/listen.ts';
import { agents, agentsAt } from '../src/agents.ts';
import { type GalleryAgents, openGallery } from '../src/gallery.ts';
import { readSettings } from '../src/settings.ts';

/** A gallery that sends to an OTLP receiver, and what that received, once the gallery is closed. */
async function traced(of: GalleryAgents) {
  const received: { path: string; body: string }[] = [];
  const endpoint = await listen(
    createServer(async (request, response) => {
      const pieces: Buffer[] = [];
      for await (const piece of request) pieces.push(piece as Buffer);
      received.push({ path: request.url ?? '', body: Buffer.concat(pieces).toString() });
      response.setHeader('content-type', 'application/json');
      response.end('{}');
    }),
  );
  const folder = mkdtempSync(join(tmpdir(), 'baton-gallery-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const env = {
    PORT: '0',
    BATON_DATA: folder,
    OTEL_EXPORTER_OTLP_ENDPOINT: `${endpoint}/`,
    TRACE_URL: 'http://traces.example/trace/{traceId}',
  };
  const gallery = await openGallery(of, readSettings(env));
  const bodiesOf = (path: string) => received.filter((each) => each.path === path).map(({ body }) => body);
  return { gallery, bodiesOf };
}

it('sends spans and metrics to the OTLP receiver that is named', async () => {
  const { gallery, bodiesOf } = await traced(agents);
  const agent = await connect(`${gallery.localUrl}/agents/expense`);
  const { task } = await agent.send('Lunch with a canary, $40');
  const traceId = await tracedIn(gallery.inspectorUrl, task!.id);
  await gallery.close();
  const [traces, metrics] = [bodiesOf('/v1/traces').join(), bodiesOf('/v1/metrics').join()];
  for (const known of ['"SendMessage"', '"baton.turn"', task!.id, 'baton-gallery', `"traceId":"${traceId}"`])
    expect(traces).toContain(known);
  for (const known of ['baton.turn.duration', 'baton.tasks.created']) expect(metrics).toContain(known);
  expect(traces + metrics).not.toContain('canary');
});

it('a task and the one that the concierge, or the gateway, starts for it at another agent are one trace', async () => {
  const { gallery, bodiesOf } = await traced(agentsAt);
  const agent = await connect(`${gallery.localUrl}/agents/concierge`);
  const { task } = await agent.send('An expense of 40 USD');
  expect(task?.status.state).toBe('TASK_STATE_COMPLETED');
  const tasks = connectTasks(gallery.localUrl);
  const { taskId } = await tasks.submit({ type: 'expense', data: { amount: 40, currency: 'USD' } });
  for await (const _ of tasks.watch(taskId));
  tasks.close();
  await gallery.close();
  const turns = new Map<string, number>();
  const spans = bodiesOf('/v1/traces').flatMap(spansIn);
  for (const { name, traceId } of spans)
    if (name === 'baton.turn') turns.set(traceId, (turns.get(traceId) ?? 0) + 1);
  expect([...turns.values()]).toEqual([2, 2]);
  const calls = spans.filter(({ name, kind }) => name === 'SendStreamingMessage' && kind === client);
  expect(calls).toHaveLength(2);
});

/** Of spans of clients, in OTLP. */
const client = 3;

interface OtlpSpan {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
}

const spansIn = (body: string): readonly OtlpSpan[] =>
  (JSON.parse(body).resourceSpans as { scopeSpans: { spans: OtlpSpan[] }[] }[]).flatMap(({ scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) => spans),
  );

/** The trace to which the inspector links the first message of a task. */
async function tracedIn(inspectorUrl: string, taskId: string): Promise<string | undefined> {
  const { origin, hash } = new URL(inspectorUrl);
  const headers = { authorization: `Bearer ${hash.slice('#token='.length)}` };
  const get = (path: string) => fetch(`${origin}/inspector/api/${path}`, { headers });
  expect(await (await get('session')).json()).toMatchObject({
    traceUrl: 'http://traces.example/trace/{traceId}',
  });
  const feed = await get(`agents/expense/tasks/${taskId}/timeline`);
  let text = '';
  for await (const piece of feed.body!) {
    text += Buffer.from(piece).toString();
    if (text.includes('traceparent')) break;
  }
  return /"traceparent":"00-([\da-f]{32})-/.exec(text)?.[1];
}

it.each([
  ['traces/{traceId}', 'TRACE_URL must be an absolute http or https URL, not "traces/{traceId}".'],
  ['http://localhost:16686/', 'TRACE_URL must contain {traceId}, unlike "http://localhost:16686/".'],
])('does not start with the TRACE_URL %s', (TRACE_URL, message) => {
  expect(() => readSettings({ TRACE_URL })).toThrow(message);
});

it('does not start with an address that is none', () => {
  expect(() => readSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector' })).toThrow(
    'OTEL_EXPORTER_OTLP_ENDPOINT must be an absolute http or https URL, not "collector".',
  );
});
