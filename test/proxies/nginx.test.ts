import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '@batonjs/client';
import { reply } from '@batonjs/server';
import { listen } from '@batonjs/server-node';
import { describe, expect, it, onTestFinished } from 'vitest';
import { hasNginx, nginx } from '../kit/http/nginx.ts';
import { repetitions } from '../kit/repetitions.ts';
import { serve } from '../kit/serve.ts';

const agent = () => serve(({ text }) => reply(text));

describe.skipIf(!(await hasNginx()))('behind nginx', () => {
  // Real time passes: twice the 5 s after which Node.js closes a connection, of the 60 s for which nginx keeps it.
  it.runIf(repetitions(0, 1))('`listen` does not close the connections that the proxy keeps', async () => {
    const { url, close } = await listen(agent());
    onTestFinished(() => close());
    const address = await nginx(
      'location / { proxy_http_version 1.1; proxy_set_header Connection ""; proxy_pass http://up; }',
      { upstream: `upstream up { server ${new URL(url).host}; keepalive 8; keepalive_timeout 60s; }` },
    );
    const peers: (number | undefined)[] = [];
    const began = (message: unknown) => {
      const { localPort, remotePort } = (message as { socket: Socket }).socket;
      if (String(localPort) === new URL(url).port) peers.push(remotePort);
    };
    subscribe('http.server.request.start', began);
    onTestFinished(() => void unsubscribe('http.server.request.start', began));
    const card = async () => (await fetch(`http://${address}/.well-known/agent-card.json`)).text();
    await card();
    await sleep(10_000);
    await card();
    expect(peers).toEqual([peers[0], peers[0]]);
  });
});
