import { AgentCard } from '@batonjs/protocol';
import { reply } from '@batonjs/server';
import { expect, it } from 'vitest';
import { onEveryAdapter } from '../peer.ts';

const path = '/.well-known/agent-card.json';

onEveryAdapter('The card', (serve) => {
  it('is at its well-known path, without a version being asked for [R-CARD-01] [R-CARD-06]', async () => {
    const peer = await serve(() => reply('Hi'));
    const response = await peer.fetch(path);
    expect(response.status).toBe(200);
    const card = await response.json();
    expect(AgentCard.parse(card)).toEqual(card);
    expect(card).toMatchObject({
      name: 'Row',
      capabilities: { streaming: true },
      supportedInterfaces: [
        { url: peer.url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
        { url: peer.url, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
      ],
    });
  });

  it('has the URL that clients use [R-CARD-06]', async () => {
    const peer = await serve(() => reply('Hi'), { publicUrl: 'https://agents.example/row/' });
    const base = peer.url === 'http://localhost' ? '/row' : '';
    const { supportedInterfaces } = await (await peer.fetch(`${base}${path}`)).json();
    for (const { url } of supportedInterfaces) expect(url).toBe('https://agents.example/row');
  });

  it('is what was written, where its interfaces were given', async () => {
    const supportedInterfaces = [
      { url: 'https://a.example', protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: 't' },
    ];
    const skill = { id: 's', name: 'S', description: 'x' };
    const peer = await serve(() => reply('Hi'), {
      card: { name: 'N', description: 'D', version: '7', supportedInterfaces, skills: [skill] },
    });
    expect(await (await peer.fetch(path)).json()).toMatchObject({
      version: '7',
      supportedInterfaces,
      skills: [{ ...skill, tags: [] }],
    });
  });

  it('may be kept, and is not sent again to who has it [R-CARD-03]', async () => {
    const peer = await serve(() => reply('Hi'));
    const first = await peer.fetch(path);
    const etag = first.headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[^"]+"$/);
    expect(first.headers.get('cache-control')).toMatch(/max-age=\d+/);
    expect(first.headers.get('vary')?.toLowerCase()).toContain('a2a-version');
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await peer.fetch(path, { headers: { 'if-none-match': known } });
      expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag]);
    }
    const changed = await peer.fetch(path, { headers: { 'if-none-match': '"other"' } });
    expect(changed.status).toBe(200);
    const other = await serve(() => reply('Hi'), { card: { name: 'Other', description: 'x' } });
    expect((await other.fetch(path)).headers.get('etag')).not.toBe(etag);
  });

  it('is JSON that pages of other origins may read [R-CARD-08]', async () => {
    const peer = await serve(() => reply('Hi'));
    const { headers } = await peer.fetch(path);
    expect(headers.get('content-type')).toBe('application/json');
    expect(headers.get('access-control-allow-origin')).toBe('*');
  });

  it('answers HEAD like GET without the body, and nothing else', async () => {
    const peer = await serve(() => reply('Hi'));
    const head = await peer.fetch(path, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect(head.headers.get('etag')).toBe((await peer.fetch(path)).headers.get('etag'));
    const posted = await peer.fetch(path, { method: 'POST' });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });
});
