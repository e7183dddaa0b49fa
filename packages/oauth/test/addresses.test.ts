import type { AgentCard } from '@batonjs/protocol';
import { describe, expect, it } from 'vitest';
import { oauth } from '../src/index.ts';
import { failureOf } from './agent.ts';

const clientOf = (server: string) => ({ clients: { [server]: { clientId: 'me' } } });

describe('an address to which secrets may travel', () => {
  it.each([
    'https://id.example',
    'http://localhost:8080',
    'http://127.0.0.1',
    'http://127.255.12.3:80',
    'http://[::1]:9000/tenant',
  ])('may be %s', (server) => {
    expect(oauth(clientOf(server))).toBeTypeOf('function');
  });

  it.each([
    'http://localhost.evil.example',
    'http://notlocalhost',
    'http://127.0.0.1.evil.example',
    'http://evil.example.127.0.0.1.example',
    'http://128.0.0.1',
    'http://[::2]',
    'http://[::ffff:10.0.0.1]',
    'ftp://localhost',
    'ws://127.0.0.1',
  ])('is not %s', (server) => {
    expect(() => oauth(clientOf(server))).toThrow('must be an https URL, or http on this machine');
  });
});

describe('an address in an error', () => {
  /** The error of the first request to an agent whose card names this address. */
  const failureFor = (openIdConnectUrl: string) => {
    const card = {
      securitySchemes: { s: { openIdConnectSecurityScheme: { openIdConnectUrl } } },
      securityRequirements: [{ schemes: { s: { list: [] } } }],
    } as unknown as AgentCard;
    const request = { url: 'https://agent.example', card, isTrusted: true };
    return failureOf(Promise.resolve(oauth(clientOf('https://id.example'))(request)));
  };

  it('has neither its credentials nor its query nor its fragment', async () => {
    const { message } = await failureFor('https://ada:canary@evil.example:8443/path?key=canary#canary');
    expect(message).toContain(' https://evil.example:8443/path,');
    expect(message).not.toMatch(/canary|ada/);
  });

  it('has at most 200 characters', async () => {
    const { message } = await failureFor(`https://evil.example/${'x'.repeat(1_000)}`);
    expect(message).toContain(`https://evil.example/${'x'.repeat(179)},`);
  });

  it('is not there if it is no URL', async () => {
    const { message } = await failureFor('no address at all');
    expect(message).toContain('names no URL,');
  });
});
