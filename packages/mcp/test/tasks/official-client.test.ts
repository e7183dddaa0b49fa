import { expect, it } from 'vitest';
import { rawClient } from '../../../../test/kit/http/raw-mcp-client.ts';
import { closedGate, mcpClient, serveSkills } from '../clients.ts';
import { officialHost } from './official-client.ts';

it('[R-MT-76] the plain client of the SDK, with the extension declared, refuses a handle', async () => {
  const { url } = await serveSkills(closedGate());
  const client = await mcpClient(url, '2026-07-28', undefined, {
    fetch: (input, init) => {
      const text = String(init?.body ?? '{}');
      const body = text.startsWith('{') ? JSON.parse(text) : {};
      const meta = body.params?._meta?.['io.modelcontextprotocol/clientCapabilities'];
      if (meta) meta.extensions = { 'io.modelcontextprotocol/tasks': {} };
      return fetch(input, { ...init, ...(init?.body && { body: JSON.stringify(body) }) });
    },
  });
  await expect(client.callTool({ name: 'slow', arguments: {} })).rejects.toThrow(
    "Unsupported result type 'task'",
  );
});

it('[R-MT-78] the official client for tasks closes a question that it has no handler for, and asks once more', async () => {
  const { url } = await serveSkills();
  const { session } = await officialHost(url);
  const execution = await session.callTool('name', {});
  if (execution.kind !== 'task') throw new Error('No task');
  const { taskId } = execution.handle;
  const settled = execution.settle().catch((error: unknown) => error);
  const raw = rawClient(url);
  const keys = async () => Object.keys((await raw.get(taskId)).result.inputRequests ?? {});
  await expect.poll(keys).toEqual([expect.stringMatching(/~2$/)]);
  await raw.cancel(taskId);
  expect(await settled).toMatchObject({ outcome: { status: 'cancelled' } });
});

it('[R-MT-77] the official client gets the result of a tool that answers at once, and one with a question', async () => {
  const { url } = await serveSkills();
  const answers = ['Ann', 'Lee'];
  const { session } = await officialHost(url, () => ({
    action: 'accept',
    content: { answer: answers.shift() ?? '' },
  }));
  const files = await (await session.callTool('files', {})).settle();
  expect(files.outcome.status).toBe('completed');
  const { outcome } = await (await session.callTool('name', {})).settle();
  expect(outcome).toMatchObject({ status: 'completed', result: { content: [{ text: 'Ann Lee' }] } });
});
