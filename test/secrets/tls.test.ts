import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { grpcClient, listenGrpc } from '@batonjs/bindings-grpc';
import { webSocketClient } from '@batonjs/bindings-websocket/client';
import { connect } from '@batonjs/client';
import { reply } from '@batonjs/server';
import { etcdStore } from '@batonjs/store-etcd';
import { describe, expect, it, onTestFinished } from 'vitest';
import { cli } from '../../packages/cli/test/cli.ts';
import { serve } from '../kit/serve.ts';
import { temporaryFolder } from '../kit/temporary-folder.ts';
import { certificateOf } from '../support/certificate.ts';
import { type Canaries, canaries } from './canaries.ts';

const { cert } = certificateOf('agent');

/** A private key that cannot be read, and says a secret. */
function brokenKey(secrets: Canaries): string {
  const secret = secrets.plant('the private key');
  // What cannot be used is sent to nobody.
  secrets.arrive(secret);
  return `-----BEGIN PRIVATE KEY-----\n${secret}\n-----END PRIVATE KEY-----\n`;
}

const unusable = '`tls` has a certificate or a key that cannot be used';

const card = (url: string, protocolBinding: string) => ({
  ...{ name: 'Agent', description: 'Is called', version: '1', skills: [], capabilities: {} },
  ...{ defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'] },
  supportedInterfaces: [{ url, protocolBinding, protocolVersion: '1.0' }],
});

/** What an attempt came to: its error, or what it threw. It must not succeed. */
async function failureOf(attempt: () => unknown): Promise<unknown> {
  try {
    await attempt();
  } catch (error) {
    return error;
  }
  return expect.unreachable('A broken key was taken');
}

describe('a private key that cannot be read is in no error and no line of a log:', () => {
  it('that of a server over gRPC', async () => {
    const secrets = canaries();
    const lines: unknown[] = [];
    const server = serve(() => reply('never'), { logger: (...line) => void lines.push(line) });
    const tls = { cert, key: brokenKey(secrets) };
    const error = await failureOf(() => listenGrpc(server, { port: 0, tls }));
    expect(String(error)).toContain(unusable);
    secrets.leave('the error', error);
    secrets.leave('the log', lines);
    secrets.check();
  });

  it('that of a client over gRPC', async () => {
    const secrets = canaries();
    const tls = { cert, key: brokenKey(secrets) };
    const error = await failureOf(() => grpcClient({ tls }));
    expect(String(error)).toContain(unusable);
    secrets.leave('the error', error);
    secrets.check();
  });

  it('that of a client over WebSocket', async () => {
    const secrets = canaries();
    const sockets = webSocketClient({ tls: { cert, key: brokenKey(secrets) } });
    onTestFinished(() => sockets.close());
    const attempt = async () => {
      const client = await connect(card('wss://127.0.0.1:1', 'WEBSOCKET'), { bindings: [sockets] });
      await client.send('hello', { timeoutMs: 2_000 });
    };
    secrets.leave('the error', await failureOf(attempt));
    secrets.check();
  });

  it('that of a store on etcd', async () => {
    const secrets = canaries();
    const tls = { cert, key: brokenKey(secrets) };
    const error = await failureOf(() => etcdStore(['https://127.0.0.1:1'], { tls }));
    expect(String(error)).toContain(unusable);
    secrets.leave('the error', error);
    secrets.check();
  });

  it.each(['text', 'json'])('that of the command line, with -o %s', async (output) => {
    const secrets = canaries();
    const home = temporaryFolder();
    writeFileSync(join(home, 'cert.pem'), cert);
    writeFileSync(join(home, 'key.pem'), brokenKey(secrets));
    const files = ['--tls-cert', join(home, 'cert.pem'), '--tls-key', join(home, 'key.pem')];
    for (const address of [
      ['-a', 'https://127.0.0.1:1'],
      ['-e', 'https://127.0.0.1:1', '--transport', 'grpc'],
    ]) {
      const words = ['send', ...address, '-o', output, '--verbose', '--debug', '--timeout', '2s', 'hello'];
      const ran = await cli([...words, ...files], { home });
      expect(ran.code).toBe(2);
      expect(ran.stdout + ran.stderr).toContain('key.pem cannot be used');
      secrets.leave(address.join(' '), [ran.stdout, ran.stderr]);
    }
    secrets.check();
  });
});
