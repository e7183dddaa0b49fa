import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root } from '../../../test/repository/source-files.ts';
import { agents } from '../src/agents.ts';
import { type Gallery, openGallery } from '../src/gallery.ts';
import { readSettings } from '../src/settings.ts';

// The conversations that three documents print, held over HTTP with the agents of the gallery. What is sent is what stands
// there, to the letter, but for the ids that a server makes and the comma that one of them forgets.

const folder = mkdtempSync(join(tmpdir(), 'baton-gallery-'));
let gallery: Gallery;
beforeAll(async () => {
  gallery = await openGallery(agents, readSettings({ PORT: '0', BATON_DATA: folder }));
});
afterAll(async () => {
  await gallery.close();
  rmSync(folder, { recursive: true });
});

const printed = (name: string) =>
  readFileSync(join(root, 'packages/bindings-v0-3/test/fixtures', `${name}.json`), 'utf8');

/** Sends a body as it is, with nothing said about versions. */
async function post(agent: string, body: string) {
  const headers = { 'content-type': 'application/json' };
  const reply = await fetch(`${gallery.localUrl}/agents/${agent}`, { method: 'POST', headers, body });
  expect(reply.status).toBe(200);
  return reply.json();
}

const mended = (text: string) => text.replace(']\n      "messageId"', '],\n      "messageId"');

describe.each(['life-of-a-task', 'life-of-a-task-zh'])('the sailboat of %s', (document) => {
  it('is drawn, then drawn again in red: a new task and artifact, the same context and name', async () => {
    const first = await post('boat-designer', mended(printed(`${document}/1-request`)));
    expect(first).toEqual({
      jsonrpc: '2.0',
      id: 'req-001',
      result: {
        kind: 'task',
        id: expect.any(String),
        contextId: expect.any(String),
        status: { state: 'completed', timestamp: expect.any(String) },
        artifacts: [
          {
            artifactId: expect.any(String),
            name: 'sailboat_image.png',
            description: 'A generated image of a sailboat on the ocean.',
            metadata: { design: {} },
            parts: [
              {
                kind: 'file',
                file: { name: 'sailboat_image.png', mimeType: 'image/png', bytes: expect.any(String) },
              },
            ],
          },
        ],
        history: [expect.objectContaining({ role: 'user' }), expect.objectContaining({ role: 'agent' })],
      },
    });
    const boat = first.result;

    const second = await post(
      'boat-designer',
      printed(`${document}/3-request`)
        .replace('ctx-conversation-abc', boat.contextId)
        .replace('task-boat-gen-123', boat.id),
    );
    expect(second).toMatchObject({
      id: 'req-002',
      result: {
        contextId: boat.contextId,
        status: { state: 'completed' },
        artifacts: [
          { name: 'sailboat_image.png', description: 'A generated image of a red sailboat on the ocean.' },
        ],
      },
    });
    expect(second.result.id).not.toBe(boat.id);
    expect(second.result.artifacts[0].artifactId).not.toBe(boat.artifacts[0].artifactId);
    for (const { artifacts } of [boat, second.result]) {
      const bytes = Buffer.from(artifacts[0].parts[0].file.bytes, 'base64');
      expect(bytes.toString('latin1', 1, 4)).toBe('PNG');
    }
  });
});

describe('the ten dollars', () => {
  it('are answered with the question that ends the history, and nothing else is in it [R-HIST-04]', async () => {
    const asked = JSON.parse(printed('history/task'));
    const { parts } = asked.history[0];
    const message = { role: 'user', messageId: 'msg-1', parts };
    const body = { jsonrpc: '2.0', id: 1, method: 'message/send', params: { message } };
    const { result } = await post('currency', JSON.stringify(body));
    /** In the document's words: parts with `type`, and no ids. */
    const plain = ({ role, parts }: { role: string; parts: { text: string }[] }) => ({
      role,
      parts: parts.map(({ text }) => ({ type: 'text', text })),
    });
    expect({
      status: { state: result.status.state, message: plain(result.status.message) },
      history: result.history.map(plain),
    }).toEqual(asked);
    expect(result.history.at(-1)).toEqual(result.status.message);
    const body2 = { jsonrpc: '2.0', id: 2, method: 'tasks/get', params: { id: result.id } };
    expect((await post('currency', JSON.stringify(body2))).result).toEqual(result);
  });
});
