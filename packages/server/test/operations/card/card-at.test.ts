import { httpJsonServer } from '@batonjs/bindings';
import { expect, it } from 'vitest';
import { cardAt, completeCard } from '../../../src/operations/card/served-cards.ts';

const card = completeCard(
  { name: 'n', description: 'd' },
  { capabilities: {}, securitySchemes: undefined, securityRequirements: undefined },
);
const grpc = { url: 'a.example:443', protocolBinding: 'GRPC', protocolVersion: '1.0' };

it('a card needs a URL, or an interface that has its own', () => {
  expect(() => cardAt(card, undefined, [httpJsonServer], [])).toThrow(
    expect.objectContaining({
      reason: 'INTERNAL_ERROR',
      message: 'The server does not know its public URL',
      cause: new Error(
        'Set `publicUrl`: the request does not come from this machine, does not name it, or came through a proxy',
      ),
    }),
  );
  expect(cardAt(card, undefined, [httpJsonServer], [grpc]).supportedInterfaces).toEqual([grpc]);
  const own = { url: 'https://a.example', protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' };
  expect(cardAt(card, own.url, [httpJsonServer], [grpc], 'blue').supportedInterfaces).toEqual([
    { ...own, tenant: 'blue' },
    { ...grpc, tenant: 'blue' },
  ]);
});
