import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '@batonjs/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { bothBindings, failureOf } from './serve.ts';

/** Makes the certificate; without it these tests are skipped. */
const program = 'openssl';
const canCertify = spawnSync(program, ['version']).status === 0;

/** A server whose certificate nobody vouches for. */
async function serve() {
  const folder = mkdtempSync(join(tmpdir(), 'baton-certificate-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  execFileSync(program, [...made, '-keyout', key, '-out', cert, ...subject], { stdio: 'ignore' });
  let requests = 0;
  const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (_request, response) => {
    requests++;
    response.end('{}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close().closeAllConnections();
    rmSync(folder, { recursive: true });
  });
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, requests: () => requests };
}

describe.skipIf(!canCertify)('an agent with a certificate that nobody vouches for', () => {
  it.each(['JSONRPC', 'HTTP+JSON'])('is told nothing on %s [R-AUTH-03]', async (binding) => {
    const { url, requests } = await serve();
    const options = {
      binding,
      retry: false,
      credentials: () => ({ authorization: 'Bearer secret' }),
    } as const;
    expect(await failureOf(connect(url, options))).toMatchObject({ code: 'NETWORK' });
    const client = await connect(bothBindings(url), options);
    expect(await failureOf(client.listTasks({}))).toMatchObject({ code: 'NETWORK' });
    expect(requests()).toBe(0);
  });
});
