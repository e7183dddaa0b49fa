import { createServer, request } from 'node:http';
import { Readable } from 'node:stream';
import { connect } from '@batonjs/client';
import { completed, inputRequired, working } from '@batonjs/server';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { listen } from '../../../test/kit/listen.ts';
import { serve } from '../../../test/kit/serve.ts';
import { eventually, until } from '../../../test/kit/until.ts';
import { untilAborted } from '../../../test/kit/until-aborted.ts';
import { countHeld } from '../../../test/leaving/held.ts';
import { clients, closedDoor, comeAndLeave, hold } from '../../../test/leaving/visits.ts';
import { mcpHandler } from '../src/index.ts';
import { mcpClient, type Version, versions } from './clients.ts';

/** Fetches over a connection of its own for each request, all of which the signal breaks off. */
const fetchUntil =
  (gone: AbortSignal) =>
  (url: string | URL, { method = 'GET', headers, body }: RequestInit = {}) =>
    new Promise<Response>((resolve, reject) => {
      const options = {
        method,
        agent: false,
        signal: gone,
        headers: Object.fromEntries(new Headers(headers)),
      };
      const sent = request(url, options, (incoming) => {
        incoming.on('error', () => {});
        resolve(
          new Response(Readable.toWeb(incoming) as ReadableStream, {
            status: incoming.statusCode!,
            headers: new Headers(incoming.headers as Record<string, string>),
          }),
        );
      });
      sent.on('error', reject).end(body);
    });

/** An agent with tasks in a counted store as an MCP server, whose callers and whose agent may wait at doors. */
async function serveHeld(version: Version) {
  const held = countHeld();
  const doors = { arrival: closedDoor(), answer: closedDoor() };
  const closed = { arrival: false, answer: false };
  const server = serve(
    async function* ({ text, signal }) {
      yield working('At it');
      if (text === 'ask') return yield inputRequired('Well?');
      await untilAborted(signal);
      yield completed();
    },
    { store: held.store },
  );
  const agent = await connect('http://localhost', {
    async fetch(sent) {
      if (closed.answer) await doors.answer.pass();
      return server.fetch(sent);
    },
  });
  const handler = mcpHandler(async ({ method }) => {
    if (closed.arrival && method === 'POST') await doors.arrival.pass();
    return { caller: 'someone', agent };
  });
  onTestFinished(() => handler.close());
  const url = new URL(await listen(held.watch(createServer(toNodeHandler(handler)))));
  const left = new AbortController();
  let asked = 0;
  /** Clients that have come, each for a task, and do not answer questions. */
  const come = (what: 'ask' | 'work') =>
    Promise.all(
      Array.from({ length: clients }, async () => {
        const { task } = await agent.send(what, { returnImmediately: true });
        await until(server, task!.id, what === 'ask' ? 'INPUT_REQUIRED' : 'WORKING');
        const mcp = await mcpClient(url, version, [], { fetch: fetchUntil(left.signal) });
        mcp.setRequestHandler('elicitation/create', () => {
          asked += 1;
          return new Promise<never>(() => {});
        });
        return { mcp, taskId: task!.id };
      }),
    );
  return { held, server, doors, closed, come, left, asked: () => asked };
}

type Client = Awaited<ReturnType<Awaited<ReturnType<typeof serveHeld>>['come']>>[number];

const waitFor = ({ mcp, taskId }: Client) => mcp.callTool({ name: 'continue_task', arguments: { taskId } });
const callTool = ({ mcp }: Client) => mcp.callTool({ name: 'Test', arguments: { message: 'work' } });
const readResult = ({ mcp, taskId }: Client) =>
  mcp.request({ method: 'tasks/result', params: { taskId } }, z.looseObject({}));

/** Lets each client make a call, and leave without another word. */
async function leaveDuring(
  { held, left, come }: Awaited<ReturnType<typeof serveHeld>>,
  call: (client: Client) => Promise<unknown>,
  {
    what,
    areThere,
    afterwards,
  }: { what: 'ask' | 'work' } & Pick<Parameters<typeof comeAndLeave>[1], 'areThere' | 'afterwards'>,
  beforehand = () => {},
) {
  const all = await come(what);
  beforehand();
  await comeAndLeave(held, {
    visit: async (client, signal) => {
      const called = call(all[client]!);
      called.catch(() => {});
      await untilAborted(signal);
      left.abort();
    },
    areThere,
    ...(afterwards && { afterwards }),
  });
}

const followed = hold('a follower');

describe.each(versions)('clients of MCP %s that leave', (version) => {
  it('leave nothing behind while a task is at work, and it goes on', async () => {
    const served = await serveHeld(version);
    await leaveDuring(served, waitFor, { what: 'work', areThere: followed });
  });

  it.each([
    ['waits for a task', waitFor],
    ['begins a task', callTool],
  ])('leave nothing behind before the server knows who they are: a call that %s', async (_, call) => {
    const served = await serveHeld(version);
    const { arrival } = served.doors;
    const areThere = () => expect(arrival.waiting).toBe(clients);
    await leaveDuring(served, call, { what: 'work', areThere, afterwards: arrival.open }, () => {
      served.closed.arrival = true;
    });
  });

  it('leave nothing behind before the agent has answered', async () => {
    const served = await serveHeld(version);
    const { answer } = served.doors;
    const areThere = () => expect(answer.waiting).toBe(clients);
    await leaveDuring(served, waitFor, { what: 'work', areThere, afterwards: answer.open }, () => {
      served.closed.answer = true;
    });
  });
});

describe('clients of MCP 2025-11-25 that leave', () => {
  it.each([
    ['a call', waitFor],
    ['the result of a task', readResult],
  ])('leave nothing behind while they are asked: %s', async (_, call) => {
    const served = await serveHeld('2025-11-25');
    const areThere = () => expect(served.asked()).toBe(clients);
    await leaveDuring(served, call, { what: 'ask', areThere });
  });

  it('leave nothing behind while they wait for the result of a task', async () => {
    const served = await serveHeld('2025-11-25');
    await leaveDuring(served, readResult, { what: 'work', areThere: followed });
    await eventually(() => expect(served.server.load.turns).toBe(clients));
  });
});
