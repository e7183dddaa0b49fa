import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import tls from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { safeFetch } from '../../src/index.ts';

/** Makes the certificate; without it these tests are skipped. */
const program = 'openssl';
const canCertify = spawnSync(program, ['version']).status === 0;

describe.skipIf(!canCertify)('a server with TLS at a checked address', () => {
  const names: unknown[] = [];
  let port = 0;
  let close = () => {};
  let folder = '';
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'baton-tls-'));
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const subject = ['-subj', '/CN=hook.example', '-addext', 'subjectAltName=DNS:hook.example,IP:127.0.0.1'];
    const made = [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      '2',
    ];
    execFileSync(program, [...made, '-keyout', key, '-out', cert, ...subject], { stdio: 'ignore' });
    const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (request, response) => {
      names.push((request.socket as tls.TLSSocket & { servername: unknown }).servername);
      response.end('ok');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    port = (server.address() as { port: number }).port;
    const trusted = tls.getCACertificates();
    tls.setDefaultCACertificates([...trusted, readFileSync(cert, 'utf8')]);
    close = () => {
      tls.setDefaultCACertificates(trusted);
      server.close().closeAllConnections();
    };
  });
  afterAll(() => {
    close();
    if (folder) rmSync(folder, { recursive: true });
  });

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

  it('is told nothing if its certificate is that of another name', async () => {
    await expect(ask('other.example')).rejects.toMatchObject({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
    expect(names).toEqual([]);
  });
});
