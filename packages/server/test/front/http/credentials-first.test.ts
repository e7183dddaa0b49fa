import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { converse, exchange } from '../../../../../test/kit/http/exchange.ts';
import { roads } from '../../../../../test/kit/http/mounts.ts';
import { type Served, serveHttp } from '../../../../../test/kit/http/serve-http.ts';

const authenticate = vi.fn(({ headers }: { headers: Readonly<Record<string, string | undefined>> }) =>
  headers.authorization ? { scope: 'a' } : undefined,
);
describe.each(roads)('%s', (_name, mount) => {
  let served: Served;
  beforeAll(async () => {
    served = await serveHttp({ authenticate }, mount);
  });
  afterAll(() => served.close());
  beforeEach(() => {
    authenticate.mockClear();
  });

  const usual = { 'content-type': 'application/json', 'a2a-version': '1.0' };
  const known = { ...usual, authorization: 'x' };
  const broken = (bytes: number) => '['.repeat(bytes);

  describe.each([
    ['JSONRPC', '/agent'],
    ['HTTP+JSON', '/agent/message:send'],
  ])('%s asks for credentials', (_, path) => {
    const post = async (body: string, headers: Record<string, string>, chunked = false) => {
      const { json } = await exchange(served.origin, { method: 'POST', path, headers, body, chunked });
      return (json.error.data ?? json.error.details)[0].reason;
    };

    it.each([
      ['of a length', false],
      ['in chunks', true],
    ])('before it reads a large body %s', async (_what, chunked) => {
      expect(await post(broken(200_000), usual, chunked)).toBe('UNAUTHENTICATED');
      expect(await post(broken(200_000), known, chunked)).toBe('PARSE_ERROR');
      expect(authenticate).toHaveBeenCalledTimes(2);
    });

    it('after it has read a small one, whose id the refusal then has', async () => {
      expect(await post(broken(1_000), usual)).toBe('PARSE_ERROR');
      expect(await post(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'GetTask' }), usual)).toBe(
        'UNAUTHENTICATED',
      );
      expect(authenticate).toHaveBeenCalledTimes(1);
    });

    it('without waiting for a body that does not come', async () => {
      const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\nConnection: close\r\n\r\n`;
      expect(await converse(served.origin, head)).toMatch(/^HTTP\/1\.1 401 /);
    });
  });
});
