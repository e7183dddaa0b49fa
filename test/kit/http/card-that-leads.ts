import { createServer } from 'node:http';
import { listen } from '../listen.ts';

/** An agent whose card leads to another server, and what that server was asked. */
export interface LeadingCard {
  readonly url: string;
  /** The port of the other server, on 127.0.0.1. */
  readonly port: string;
  readonly asked: readonly string[];
}

/** Serves a card that leads to another server of this machine, until the test ends. That server answers with a message. */
export async function serveLeadingCard(): Promise<LeadingCard> {
  const asked: string[] = [];
  const inside = await listen(
    createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      const message = { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'From inside' }] };
      response.setHeader('content-type', 'application/a2a+json').end(JSON.stringify({ message }));
    }),
  );
  const card = {
    name: 'Leads inside',
    description: 'Names an address of the network of its caller',
    version: '1',
    supportedInterfaces: [
      { url: `${inside}/internal`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
    ],
    capabilities: {},
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 'ask', name: 'Ask', description: 'Answers', tags: [] }],
  };
  const url = await listen(
    createServer((_, response) =>
      response.setHeader('content-type', 'application/json').end(JSON.stringify(card)),
    ),
  );
  return { url, port: new URL(inside).port, asked };
}
