import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, textOf } from '@batonjs/client';
import { append, artifact, completed, reply } from '@batonjs/server';
import { listen } from '@batonjs/server-node';
import { describe, expect, it, onTestFinished } from 'vitest';
import { tlsFetch } from '../../packages/cli/src/connection/open-agent.ts';
import { codeBlocks } from '../../scripts/packed/consumer.ts';
import { mounts } from '../kit/http/mounts.ts';
import { hasNginx, nginx } from '../kit/http/nginx.ts';
import { listen as listenOn } from '../kit/listen.ts';
import { freePort } from '../kit/processes.ts';
import { repetitions } from '../kit/repetitions.ts';
import { serve } from '../kit/serve.ts';
import { certificateOf } from '../support/certificate.ts';

const agent = () => serve(({ text }) => reply(text));

/** What a proxy says of the request, and where it passes it on. */
const passing = (origin: string) =>
  'proxy_set_header Host $http_host; proxy_set_header X-Forwarded-Proto $scheme; ' +
  `proxy_http_version 1.1; proxy_pass ${origin};`;

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

  it.each(mounts)('that ends TLS, a trusted card has its scheme and its host, by %s', async (_, mount) => {
    const origin = await listenOn(createServer(await mount(agent(), { trusted: true })));
    const { key, cert } = certificateOf('localhost');
    const address = await nginx(
      `ssl_certificate cert.pem; ssl_certificate_key key.pem; location / { ${passing(origin)} }`,
      { tls: true, files: { 'key.pem': key, 'cert.pem': cert } },
    );
    const client = await connect(`https://${address}/agent`, { fetch: tlsFetch({ ca: cert }, false)! });
    expect(client.interface.url).toBe(`https://${address}/agent`);
    expect((await client.send('Hello')).message?.parts).toEqual([{ text: 'Hello' }]);
  });

  it('with the file of the page, the card has the address of the proxy, and events come as they are written', async () => {
    const next = Promise.withResolvers<void>();
    const server = serve(async function* () {
      yield artifact('text', 'first ');
      await next.promise;
      yield append('text', 'second');
      yield completed();
    });
    const origin = await listenOn(createServer(await mounts[0]![1](server, { trusted: true })));
    const { key, cert } = certificateOf('localhost');
    const [file = ''] = codeBlocks('docs/serving/proxy.md', 'nginx');
    const [, upstream = '', rules = ''] = /(upstream[\s\S]*?\n}\n)\s*server \{\n([\s\S]*)\}/.exec(file) ?? [];
    expect(rules).toContain('listen 443 ssl;');
    const address = await nginx(rules.replace('listen 443 ssl;', ''), {
      upstream: upstream.replace('127.0.0.1:4000', new URL(origin).host),
      tls: true,
      files: { 'key.pem': key, 'cert.pem': cert },
    });
    const client = await connect(`https://${address}/agent`, { fetch: tlsFetch({ ca: cert }, false)! });
    expect(client.interface.url).toBe(`https://${address}/agent`);
    const seen: string[] = [];
    for await (const { artifactUpdate } of client.stream('Go')) {
      if (artifactUpdate) seen.push(textOf(artifactUpdate.artifact));
      // Written only once the first has passed the proxy.
      if (seen.length === 1) next.resolve();
    }
    expect(seen).toEqual(['first ', 'second']);
  });

  it('a client is told what the proxy answers in place of the agent', async () => {
    const never = await listenOn(createServer(() => {}));
    const gone = `http://127.0.0.1:${await freePort()}`;
    const address = await nginx(
      `client_max_body_size 1k; location /gone { ${passing(gone)} } location /slow { proxy_read_timeout 1s; ${passing(never)} }`,
    );
    const failure = async (path: string, message: string) => {
      const card = { ...(await agent().card), supportedInterfaces: [] };
      const url = `http://${address}${path}`;
      const listed = [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }];
      const client = await connect({ ...card, supportedInterfaces: listed }, { retry: false });
      return client.send(message).then(
        () => 'answered',
        (error: Error) => error.message,
      );
    };
    expect([
      await failure('/gone', 'Hello'),
      await failure('/slow', 'Hello'),
      await failure('/gone', 'x'.repeat(2_000)),
      await failure('/nothing', 'Hello'),
    ]).toEqual([
      `http://${address}/gone answers 502 with text/html ("502 Bad Gateway"), which is no answer of A2A`,
      `http://${address}/slow answers 504 with text/html ("504 Gateway Time-out"), which is no answer of A2A; the agent may go on with the work`,
      `http://${address}/gone answers 413 with text/html ("413 Request Entity Too Large"), which is no answer of A2A`,
      `http://${address}/nothing answers 404 with text/html ("404 Not Found"), which is no answer of A2A`,
    ]);
  });
});
