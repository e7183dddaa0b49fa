import { writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { listenGrpc } from '@batonjs/bindings-grpc';
import { nodeHandler } from '@batonjs/server-node';
import { describe, expect, it, onTestFinished } from 'vitest';
import { serve } from '../../../test/kit/serve.ts';
import { temporaryFolder } from '../../../test/kit/temporary-folder.ts';
import { certificateOf } from '../../../test/support/certificate.ts';
import { many, manyCard } from './agents.ts';
import { cli } from './cli.ts';

/** An agent over HTTPS and gRPC, with the certificates of both sides in a folder. `mutual`: it asks for a client's. */
async function serveTls(mutual: boolean) {
  const folder = temporaryFolder();
  const [own, client] = [certificateOf('localhost'), certificateOf('client')];
  for (const [name, text] of Object.entries({ ca: own.cert, cert: client.cert, key: client.key }))
    writeFileSync(join(folder, `${name}.pem`), text);
  const securitySchemes = { mtls: { mtlsSecurityScheme: {} } };
  const required = mutual && { securitySchemes, securityRequirements: [{ schemes: { mtls: { list: [] } } }] };
  const server = serve(many, { card: { ...manyCard, ...required } });
  const listener = createServer(
    { ...own, ca: client.cert, requestCert: mutual, rejectUnauthorized: false },
    (request, response) => {
      const isCard = request.method === 'GET';
      const isKnown = (request.socket as import('node:tls').TLSSocket).authorized;
      // The card is public.
      if (mutual && !isCard && !isKnown) return void response.writeHead(401).end('{}');
      nodeHandler(server)(request, response);
    },
  );
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void listener.close().closeAllConnections());
  const tls = { ...own, ...(mutual && { clientCa: client.cert }) };
  const grpc = await listenGrpc(server, { port: 0, host: '127.0.0.1', tls });
  onTestFinished(() => grpc.close());
  const { port } = listener.address() as { port: number };
  return { url: `https://127.0.0.1:${port}`, grpc: `https://127.0.0.1:${grpc.port}`, folder };
}

describe('TLS', () => {
  it('is verified unless --insecure says otherwise, with a warning [A2ACLI_DEFAULT_001, A2ACLI_AUTH_003, R-CLI-32]', async () => {
    const { url, grpc, folder } = await serveTls(false);
    const refused = await cli(`card get ${url} -o json --timeout 30s`);
    expect(refused).toMatchObject({ code: 3, json: { error: { code: 'A2ACLI_ERR_UNREACHABLE' } } });
    const insecure = await cli(`send -a ${url} --insecure hello`);
    expect(insecure.code).toBe(0);
    expect(insecure.stderr).toContain('Warning: TLS certificates are not verified');
    const trusted = await cli(`send -a ${url} --tls-ca ${join(folder, 'ca.pem')} hello`);
    expect(trusted.code).toBe(0);
    expect(trusted.stderr).not.toContain('Warning');
    const own = `send -e ${url} --transport jsonrpc --tls-ca ${join(folder, 'ca.pem')} --bearer s3cret hello`;
    expect((await cli(own)).stderr).not.toContain('Warning');
    expect((await cli(`${own} --insecure`)).stderr).toContain('Warning: A CREDENTIAL IS SENT');
    const overGrpc = `send -e ${grpc} --transport grpc -o json hello`;
    expect((await cli(`${overGrpc} --timeout 3s`)).code).not.toBe(0);
    expect((await cli(`${overGrpc} --insecure`)).code).toBe(0);
  });

  it('is mutual with a certificate of this client [A2ACLI_AUTH_009]', async () => {
    const { url, grpc, folder } = await serveTls(true);
    const file = (name: string) => join(folder, `${name}.pem`);
    const base = `send -a ${url} --tls-ca ${file('ca')}`;
    const missing = await cli(`${base} -o json hello`);
    expect(missing).toMatchObject({ code: 4, json: { error: { code: 'A2ACLI_ERR_CREDENTIALS_MISSING' } } });
    const own = `--tls-cert ${file('cert')} --tls-key ${file('key')}`;
    const ran = await cli(`${base} ${own} hello`);
    expect([ran.code, ran.stderr]).toEqual([0, expect.not.stringContaining('Error')]);
    expect((await cli(`${base} --tls-cert ${file('cert')} hello`)).code).toBe(2);
    expect((await cli(`${base} --tls-cert /none --tls-key /none hello`)).code).toBe(2);

    const overGrpc = `send -e ${grpc} --transport grpc --tls-ca ${file('ca')} --timeout 10s`;
    expect((await cli(`${overGrpc} ${own} hello`)).code).toBe(0);
    expect((await cli(`${overGrpc} -o json hello`)).code).not.toBe(0);
  });
});
