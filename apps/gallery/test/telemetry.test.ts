import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '@batonjs/client';
import { expect, it, onTestFinished } from 'vitest';
import { listen } from '../../../test/kit/listen.ts';
import { agents } from '../src/agents.ts';
import { openGallery } from '../src/gallery.ts';
import { readSettings } from '../src/settings.ts';

it('sends spans and metrics to the OTLP receiver that is named', async () => {
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
  const env = { PORT: '0', BATON_DATA: folder, OTEL_EXPORTER_OTLP_ENDPOINT: `${endpoint}/` };
  const gallery = await openGallery(agents, readSettings(env));
  const agent = await connect(`${gallery.localUrl}/agents/expense`);
  const { task } = await agent.send('Lunch with a canary, $40');
  await gallery.close();
  const bodyOf = (path: string) => received.filter((each) => each.path === path).map(({ body }) => body);
  const [traces, metrics] = [bodyOf('/v1/traces').join(), bodyOf('/v1/metrics').join()];
  for (const known of ['"SendMessage"', '"baton.turn"', task!.id, 'baton-gallery'])
    expect(traces).toContain(known);
  for (const known of ['baton.turn.duration', 'baton.tasks.active']) expect(metrics).toContain(known);
  expect(traces + metrics).not.toContain('canary');
});

it('does not start with an address that is none', () => {
  expect(() => readSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector' })).toThrow(
    'OTEL_EXPORTER_OTLP_ENDPOINT must be an absolute http or https URL, not "collector".',
  );
});
