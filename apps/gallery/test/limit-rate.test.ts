import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '@batonjs/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agents } from '../src/agents.ts';
import { type Gallery, openGallery } from '../src/gallery.ts';
import { readSettings } from '../src/settings.ts';

const folder = mkdtempSync(join(tmpdir(), 'baton-gallery-'));
const allowed = 3;
let gallery: Gallery;
beforeAll(async () => {
  gallery = await openGallery(agents, {
    ...readSettings({ PORT: '0', BATON_DATA: folder, RATE_LIMIT: String(allowed) }),
  });
});
afterAll(async () => {
  await gallery.close();
  rmSync(folder, { recursive: true });
});

describe('an address that sends too much', () => {
  const headers = { 'a2a-version': '1.0', 'content-type': 'application/json' };
  const info = {
    '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
    reason: 'RESOURCE_EXHAUSTED',
    domain: 'batonjs.dev',
  };
  const retry = {
    '@type': 'type.googleapis.com/google.rpc.RetryInfo',
    retryDelay: expect.stringMatching(/^\d+s$/),
  };
  const message = 'Too many requests from this address';

  it('is refused by every agent in the words of its binding, and says when to come back [R-OP-12]', async () => {
    const at = (path: string, init?: RequestInit) =>
      fetch(`${gallery.localUrl}/agents${path}`, { headers, ...init });
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ListTasks' });
    for (let n = 0; n < allowed; n++) expect((await at('/expense/tasks')).status).toBe(200);
    for (const [path, init, type, error] of [
      [
        '/expense/tasks',
        {},
        'application/a2a+json',
        { code: 429, status: 'RESOURCE_EXHAUSTED', details: [info, retry] },
      ],
      ['/currency', { method: 'POST', body }, 'application/json', { code: -32603, data: [info, retry] }],
      [
        '/currency/.well-known/agent-card.json',
        {},
        'application/a2a+json',
        { code: 429, status: 'RESOURCE_EXHAUSTED', details: [info, retry] },
      ],
    ] as const) {
      const refused = await at(path, init);
      expect(refused.status).toBe(429);
      expect(await refused.json()).toMatchObject({ error: { ...error, message } });
      const seconds = Number(refused.headers.get('retry-after'));
      expect(seconds).toBeGreaterThan(0);
      expect(seconds).toBeLessThanOrEqual(60);
      expect(refused.headers.get('content-type')).toBe(type);
      expect(refused.headers.get('ratelimit-policy')).toContain(`q=${allowed}`);
    }
    await expect(connect(gallery.exhibits[0].url, { retry: false })).rejects.toMatchObject({
      reason: 'RESOURCE_EXHAUSTED',
      retryAfter: expect.any(Number),
    });
    expect((await fetch(`${gallery.localUrl}/healthz`)).status).toBe(200);
  });

  it('is counted by a number of requests', () => {
    for (const text of ['0', '-1', 'many', '1.5'])
      expect(() => readSettings({ RATE_LIMIT: text })).toThrow(/RATE_LIMIT/);
    expect(readSettings({}).perMinute).toBeUndefined();
  });
});
