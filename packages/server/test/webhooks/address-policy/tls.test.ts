import { once } from 'node:events';
import { createServer } from 'node:https';
import tls from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { certificateOf } from '../../../../../test/support/certificate.ts';
import { safeFetch } from '../../../src/webhooks/address-policy.ts';

describe('a server with TLS at a checked address', () => {
  const names: unknown[] = [];
  let port = 0;
  let close = () => {};
  beforeAll(async () => {
    const { key, cert } = certificateOf('hook.example');
    const server = createServer({ key, cert }, (request, response) => {
      names.push((request.socket as tls.TLSSocket & { servername: unknown }).servername);
      response.end('ok');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    port = (server.address() as { port: number }).port;
    const trusted = tls.getCACertificates();
    tls.setDefaultCACertificates([...trusted, cert]);
    close = () => {
      tls.setDefaultCACertificates(trusted);
      server.close().closeAllConnections();
    };
  });
  afterAll(() => close());

  const ask = (host: string) =>
    safeFetch(`https://${host}:${port}/`, { allow: ['127.0.0.1'], resolve: async () => ['127.0.0.1'] });

  it('is asked for by its name, and shows the certificate of that name', async () => {
    expect(await (await ask('hook.example')).text()).toBe('ok');
    expect(names.splice(0)).toEqual(['hook.example']);
  });

  it('may be named by its address', async () => {
    expect(await (await ask('127.0.0.1')).text()).toBe('ok');
    expect(names.splice(0)).toEqual([false]);
  });

  it('gets nothing if its certificate is that of another name', async () => {
    await expect(ask('other.example')).rejects.toMatchObject({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
    expect(names).toEqual([]);
  });
});
