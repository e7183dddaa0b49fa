import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { listen } from '../kit/listen.ts';

/** A request as a gateway passes it on. */
export interface Passed {
  path: string;
  readonly headers: Headers;
  body: string;
}

/** What a gateway does to the requests and answers that it passes on. */
export interface Fault {
  readonly request?: (passed: Passed) => void;
  /** Answers itself, without the agent. */
  readonly instead?: (passed: Passed) => Response | undefined;
  /** Changes a card on its way. */
  readonly card?: (card: { supportedInterfaces: { url: string }[] }, gateway: string) => void;
  /** Collects an answer before it passes it on. */
  readonly buffers?: boolean;
  /** Ends an answer after so many milliseconds without a byte. */
  readonly silenceMs?: number;
  /** Sends each POST twice, and passes the second answer on. */
  readonly repeats?: boolean;
}

/** A gateway in front of an agent, until the test ends. Resolves to its origin. */
export async function gatewayTo(agent: string, fault: Fault): Promise<string> {
  const server = createServer(async (request, response) => {
    try {
      await pass(request, response);
    } catch {
      response.destroy();
    }
  });
  const origin = await listen(server);

  async function pass(request: IncomingMessage, response: ServerResponse) {
    let body = '';
    for await (const piece of request) body += piece;
    const { method = 'GET', url = '/' } = request;
    const passed: Passed = { path: url, headers: new Headers(headersOf(request)), body };
    fault.request?.(passed);
    const left = new AbortController();
    response.on('close', () => left.abort());
    const ask = () =>
      fetch(agent + passed.path, {
        method,
        headers: passed.headers,
        signal: left.signal,
        ...(method !== 'GET' && { body: passed.body }),
      });
    if (fault.repeats && method === 'POST') await (await ask()).text();
    const answer = fault.instead?.(passed) ?? (await ask());
    const passedOn = [...answer.headers].filter(([name]) => !ofConnection.test(name));
    response.writeHead(answer.status, Object.fromEntries(passedOn));
    if (fault.card && passed.path.endsWith('agent-card.json')) {
      const card = (await answer.json()) as Parameters<typeof fault.card>[0];
      fault.card(card, origin);
      return response.end(JSON.stringify(card));
    }
    if (fault.buffers) return response.end(await answer.text());
    response.flushHeaders();
    const reader = answer.body?.getReader();
    while (reader) {
      const next = reader.read();
      const silence = fault.silenceMs && sleep(fault.silenceMs, 'silent' as const);
      const piece = await Promise.race([next, ...(silence ? [silence] : [])]);
      if (piece === 'silent') throw new Error('Silent for too long');
      if (piece.done) break;
      response.write(piece.value);
    }
    return response.end();
  }
  return origin;
}

const ofConnection = /^(host|connection|keep-alive|content-length|content-encoding|transfer-encoding)$/;
const headersOf = ({ headers }: IncomingMessage): [string, string][] =>
  Object.entries(headers).flatMap(([name, value]) =>
    typeof value === 'string' && !ofConnection.test(name) ? [[name, value] as [string, string]] : [],
  );
