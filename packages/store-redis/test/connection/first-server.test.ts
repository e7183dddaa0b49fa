import { expect, it } from 'vitest';
import { clientOf } from '../../src/connection/first-server.ts';

it('Connections share one class, whatever their servers and accounts are', () => {
  const kindOf = (url: string, options = {}) => clientOf(url, options, 1_000).constructor;
  const kind = kindOf('redis://a.example');
  expect(kindOf('redis://ada:secret@b.example:1/2', { name: 'b' })).toBe(kind);
  expect(kindOf('redis://a.example', { RESP: 2 })).not.toBe(kindOf('redis://a.example', { RESP: 3 }));
});
