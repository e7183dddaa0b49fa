import { stripTypeScriptTypes } from 'node:module';
import * as auth from '@batonjs/auth';
import * as extensions from '@batonjs/extensions';
import * as baton from '@batonjs/server';
import * as workers from '@batonjs/server/worker';
import { memoryStore } from '@batonjs/store-memory';
import { expect, it, onTestFinished } from 'vitest';
import * as zod from 'zod';
import { look, submit } from '../../packages/server/test/callbacks/asking-agent.ts';
import { codeBlocks } from '../../scripts/packed/consumer.ts';
import { rpc, say } from '../kit/rpc.ts';
import { eventually } from '../kit/until.ts';

const [byMail = '', bySlack = '', inWorker = ''] = codeBlocks('docs/agents/answer-links.md');

/** The server beside the worker: its turns run there. */
const front = bySlack
  .replace(/onTransition\(.*?^ {2}\},$/ms, "run: 'workers',")
  .replaceAll('createAgentServer', 'createFront');

const key = 'k-1234567890123456';
const headers = { 'x-api-key': key };
const keys = new Map([[key, { scope: 'books' }]]);
const authenticate = auth.apiKey({ header: 'X-API-Key', keys });

const asking: baton.Agent = async function* ({ caller, values }) {
  if (caller.answeredBy) return yield baton.completed(`${values.approved} by ${caller.answeredBy}`);
  const form = zod.z.object({ approved: zod.z.boolean() });
  yield extensions.inputRequired('Approve 900 EUR?', { form });
};
const agent = extensions.extend(
  { card: { name: 'Expenses', description: '' }, agent: asking },
  extensions.formInput,
).agent;

/** The calls of what an example names and does not have. */
function outside() {
  const links: string[] = [];
  const found = (text: string) => void links.push(/https:\S+/.exec(text)![0]);
  return {
    links,
    named: {
      agent,
      keys,
      SLACK_WEBHOOK: 'https://slack.example',
      sendMail: async ({ text }: { text: string }) => found(text),
      notify: async (_: string, url: string) => found(url),
      fetch: async (_: string, { body }: { body: string }) => {
        found(JSON.parse(body).blocks[1].elements[0].url);
        return { ok: true };
      },
    },
  };
}

/** Runs the code of a page with more options for its servers and workers, and returns what it exports. */
function run(
  code: string,
  named: object,
  more: object,
): { server?: baton.AgentServer; worker?: workers.Worker } {
  const closed = <S extends { close(options: object): Promise<void> }>(started: S): S => {
    onTestFinished(() => started.close({ graceMs: 0 }));
    return started;
  };
  const logger = () => {};
  const modules: Readonly<Record<string, object>> = {
    '@batonjs/auth': auth,
    '@batonjs/extensions': extensions,
    '@batonjs/server': {
      ...baton,
      createAgentServer(given: baton.AgentServerOptions) {
        const options = { ...given, logger, ...more };
        if (options.run === 'workers') closed(workers.createWorker(options));
        return closed(baton.createAgentServer(options));
      },
      createFront: (given: baton.AgentServerOptions) =>
        closed(baton.createAgentServer({ ...given, logger, ...more })),
    },
    '@batonjs/server/worker': {
      createWorker: (options: workers.WorkerOptions) =>
        closed(workers.createWorker({ ...options, logger, ...more })),
    },
    '@batonjs/store-sqlite': { sqliteStore: memoryStore },
    zod,
  };
  const program = stripTypeScriptTypes(code)
    .replaceAll(/^import (.+) from ('.+');$/gm, 'const $1 = modules[$2];')
    .replaceAll(/^export const (server|worker) =/gm, 'const $1 = exported.$1 =');
  const exported = {};
  new Function('modules', 'exported', ...Object.keys(named), program)(
    modules,
    exported,
    ...Object.values(named),
  );
  return exported;
}

it.each([
  ['By mail', byMail, {}],
  ['By mail, with authentication', byMail, { authenticate }],
  ['By mail, with authentication and a worker', byMail, { authenticate, run: 'workers' }],
  ['By Slack, without authentication', bySlack, { authenticate: undefined }],
  ['By Slack', bySlack, {}],
  ['By Slack, in a worker without authentication', inWorker, { authenticate: undefined }],
  ['By Slack, in a worker', inWorker, {}],
])('the program "%s" has its question answered by the person alone', async (_, code, more) => {
  const { links, named } = outside();
  const store = memoryStore();
  const own = { store, ...more };
  if (code === inWorker) run(inWorker, named, { store });
  const server = run(code === inWorker ? front : code, named, own).server!;
  const there = {
    fetch: (request: Request) => server.fetch(new Request('https://agents.example/expenses/', request)),
  };
  const message = say([{ text: '900 EUR' }, { data: { approved: true } }]);
  const configuration = { returnImmediately: true };
  const { task } = await rpc(there, 'SendMessage', { message, configuration }, headers);
  const url = await eventually(() => {
    expect(links).toHaveLength(1);
    return links[0]!;
  });
  const page = await eventually(async () => {
    const shown = await look(server, url);
    expect(shown.text).toContain('Approve 900 EUR?');
    return shown;
  });
  expect((await submit(server, url, page, { 'field-0': '1' })).text).toContain('Thank you');
  await eventually(async () => {
    const { status } = await rpc(there, 'GetTask', { id: task.id }, headers);
    expect(status.message?.parts[0].text).toMatch(/^(Refused|false) by (ana@|#finance)/);
  });
});
