import { apiKey } from '@batonjs/auth';
import { answer, type MessageInput } from '@batonjs/client';
import { inputRequired as askForm, extend, formInput } from '@batonjs/extensions';
import type { Task } from '@batonjs/protocol';
import type { AgentServerOptions } from '@batonjs/server';
import { type Agent, artifact, completed, data } from '@batonjs/server';
import { nodeHandler } from '@batonjs/server-node';
import { expect } from 'vitest';
import { z } from 'zod';
import { scriptedModel, text } from '../../packages/ai-sdk/test/scripted-model.ts';
import { token } from '../../packages/auth/test/callers/tokens.ts';
import { newKey, serveKeys } from '../../packages/auth/test/keys/sample-keys.ts';
import { essayist } from '../../packages/from-executor/test/executors.ts';
import { look, submit } from '../../packages/server/test/callbacks/asking-agent.ts';
import { listen } from '../kit/listen.ts';
import { serve } from '../kit/serve.ts';
import { eventually } from '../kit/until.ts';
import type { Running, Surroundings } from '../support/page-program.ts';

/** What is said to the agent of a program, and what it says in the end. */
export interface Example extends Surroundings {
  /** What a client sends. Undefined: "Hello". Null: the program is its own client, and has closed its server. */
  readonly message?: MessageInput | null;
  /** What the client answers to the question of the task. */
  readonly answer?: (task: Task) => MessageInput;
  /** The extensions of the client. */
  readonly extensions?: readonly string[];
  /** Ends the wait of the task in another way: what somebody else does once the task asks. */
  readonly elsewhere?: (running: Running) => unknown;
  /** Asks the agent in another way than our client, and resolves to what it says. */
  readonly ask?: (running: Running, headers: Record<string, string>) => Promise<string>;
  /** The texts and data of the end contain it. Default: "Hello". */
  readonly says?: RegExp;
  /** More options when it runs without more. */
  readonly plain?: Partial<AgentServerOptions>;
}

export const key = 'k-1234567890123456';
export const keys = new Map([[key, { scope: 'ada' }]]);
export const authenticate = apiKey({ header: 'X-API-Key', keys });

/** Agents that a page asks, and does not show. */
const otherAgents = async () => {
  const server = serve(async function* ({ text }) {
    yield artifact('found', data({ found: text }));
    yield completed();
  });
  const origin = await listen(nodeHandler(server));
  return { 'https://hotels.example.com': origin, 'https://flights.example.com': origin };
};

const says: Agent = async function* ({ text }) {
  yield completed(`You said ${text}`);
};
const declared: Surroundings = { named: { agent: says } };

const asksApproval = extend(
  {
    card: { name: '', description: '' },
    agent: async function* ({ caller, values }) {
      if (caller.answeredBy) return yield completed(`${values.approved} by ${caller.answeredBy}`);
      yield askForm('Approve 900 EUR?', { form: z.object({ approved: z.boolean() }) });
    },
  },
  formInput,
).agent;

/** A person opens the link that was sent, and fills in its form. */
const byLink =
  (send: (found: (text: string) => void) => object, plain = {}) =>
  async (): Promise<Example> => {
    const links: string[] = [];
    const found = (text: string) => void links.push(/https?:\S+/.exec(text)![0]);
    return {
      named: { agent: asksApproval, keys, SLACK_WEBHOOK: 'https://slack.example', ...send(found) },
      message: { parts: [{ text: '900 EUR' }, { data: { approved: true } }] },
      says: /(Refused|false) by (ana@|#finance)/,
      plain,
      async elsewhere() {
        const url = await eventually(() => {
          expect(links).toHaveLength(1);
          return links[0]!;
        });
        const page = await eventually(async () => {
          const shown = await look({ fetch }, url);
          expect(shown.text).toContain('Approve 900 EUR?');
          return shown;
        });
        expect((await submit({ fetch }, url, page, { 'field-0': '1' })).text).toContain('Thank you');
      },
    };
  };

/** Sends what `useChat` sends. */
const askChat = async ({ url }: Running, headers: Record<string, string>): Promise<string> => {
  const messages = [{ id: 'm-1', role: 'user', parts: [{ type: 'text', text: 'Hello' }] }];
  const body = JSON.stringify({ id: 'chat-1', trigger: 'submit-message', messages });
  const json = { ...headers, 'content-type': 'application/json' };
  return (await fetch(url, { method: 'POST', headers: json, body })).text();
};

/** Programs of tests that a page shows: their clocks and stores are of one process. */
const asTest = 'a test, which is its own client in one process';

/** The programs of each page that make a server or a worker, in their order; a text says why one is left out. */
export const pages: Readonly<Record<string, readonly (Example | string | (() => Promise<Example>))[]>> = {
  'agents/ai-sdk': [
    async () => ({
      replaced: { ...(await otherAgents()), "'openai/gpt-5-mini'": 'scripted' },
      named: { scripted: scriptedModel(text('Hello')) },
    }),
  ],
  'agents/answer-links': [
    byLink((found) => ({ sendMail: async (mail: { text: string }) => found(mail.text) })),
    {},
    byLink(
      (found) => ({
        fetch: async (_: string, { body }: { body: string }) => {
          found(JSON.parse(body).blocks[1].elements[0].url);
          return { ok: true };
        },
      }),
      { authenticate: undefined },
    ),
    byLink((found) => ({ notify: async (_: string, url: string) => found(url) })),
  ],
  'agents/callbacks': [
    {
      named: {
        pay(cents: number, url: string) {
          const body = JSON.stringify({ status: 'paid', id: `${cents} cents` });
          const headers = { 'content-type': 'application/json' };
          void fetch(url, { method: 'POST', headers, body });
          return { page: 'https://pay.example' };
        },
      },
      message: { parts: [{ data: { cents: 9_00 } }] },
      says: /900 cents/,
    },
  ],
  'agents/cancel': [declared],
  'agents/conformance-kits': [{ says: /Hello from TCK/ }],
  'agents/extensions': [{ says: /Read/ }],
  'agents/files': [
    {
      answer: () => ({
        parts: [{ raw: btoa('a picture'.repeat(9_000)), mediaType: 'image/png', filename: 'receipt.png' }],
      }),
      says: /report\.txt.*\/files\/[\w-]{99}/,
    },
  ],
  'agents/language-models': [declared],
  'agents/nested-tasks': [async () => ({ replaced: await otherAgents() })],
  'agents/questions': [
    { answer: (task) => answer(task, { amount: 12, currency: 'EUR' }), says: /Noted: 12 EUR/ },
  ],
  'agents/recurring': [
    'starts its tasks by a clock: `packages/server/test` has them with callers and workers',
  ],
  'agents/retries': [{ named: { weather: says } }],
  'agents/scheduling': [declared],
  'agents/testing': [asTest, asTest, asTest, asTest],
  'agents/transactions': ['needs a PostgreSQL of its own: `packages/transactions/test` runs such an agent'],
  'operating/caller-limits': [{ replaced: { 'a key of Ada': key } }],
  'operating/costs': [{}],
  'operating/deploy': [{ path: '/echo' }, {}],
  'operating/durable-objects': ['runs in a Durable Object alone: `test/runtimes/durable-object.test.ts`'],
  'operating/erasing': [{}, {}],
  'operating/finding-tasks': [{ says: /Paid/ }],
  'operating/health': [declared],
  'operating/hosts': ['works only during calls: `packages/server/test/due/run-due.test.ts`'],
  'operating/inspector': [{}],
  'operating/metrics': [{ ...declared, env: { METRICS_TOKEN: key } }],
  'operating/redriving': ['forks a task that its server has had before'],
  'operating/scaling': [declared],
  'operating/telemetry': [declared],
  'operating/versions': [{}],
  'serving/ag-ui': [{ path: '/agents/echo' }],
  'serving/api-keys': [
    { env: { PARTNER_KEY: key, SHOP_KEY: 'another-1234567890' }, says: /partner said: Hello/ },
  ],
  'serving/authentication': [
    async () => {
      const signer = newKey('k-1');
      const { url } = await serveKeys(signer);
      const soon = Math.floor(Date.now() / 1_000) + 600;
      const claims = { iss: 'https://id.example.com', aud: 'https://ledger.example.com', exp: soon };
      return {
        replaced: { 'https://id.example.com/jwks': url },
        headers: { authorization: `Bearer ${await token({ ...claims, scope: 'read' }, signer)}` },
        says: /Hello, ada/,
      };
    },
    () => {
      let wakeKey = '';
      let entries: string | undefined;
      const service = {
        begin: async (given: string) => {
          wakeKey = given;
          return 'https://id.example';
        },
        finish: async () => {
          entries = 'Hello from the calendar';
          return wakeKey;
        },
        read: async () => entries,
      };
      return Promise.resolve({
        named: { service },
        elsewhere: ({ exported }: Running) => exported.onRedirect(new URL('https://agent.example')),
      });
    },
  ],
  'serving/browser': [{}],
  'serving/cookie-sessions': [
    {
      named: {
        getToken: async ({ req }: { req: { headers: { cookie: string } } }) =>
          req.headers.cookie === 'session=ada' ? { sub: 'ada', name: 'Ada' } : null,
      },
      headers: { cookie: 'session=ada' },
      says: /Hello, Ada/,
    },
  ],
  'serving/frameworks': [
    { path: '/agents/echo' },
    { path: '/agents/echo' },
    { path: '/agents/echo' },
    'runs in a Worker alone: `test/runtimes/workerd.test.ts`',
  ],
  'serving/grpc': [
    'needs the certificates and names of a network: `packages/bindings-grpc/test` has its options',
  ],
  'serving/react': [{ path: '/api/agent' }],
  'serving/push': [{ says: /Done/ }],
  'serving/use-chat': [{ path: '/api/chat', ask: askChat }, {}],
  'start/a2a-0.3': [
    { says: /Done/ },
    {
      // As the page says for a server with authentication.
      replaced: {
        'fetch: server.fetch,': "fetch: server.fetch, trustedOrigins: ['http://127.0.0.1:' + listener.port],",
      },
      message: null,
    },
  ],
  'start/migrate-from-a2a-js': [{ named: { executor: essayist }, says: /once/ }],
  'start/product': [
    '`test/product` runs all of it, with a PostgreSQL',
    '`test/product` runs all of it, with a PostgreSQL',
  ],
  'start/recipes': [
    {},
    { extensions: ['https://example.com/extensions/units/v1'], says: /3 kg/ },
    {},
    { named: { logger: { error() {}, warn() {}, info() {} } } },
  ],
  'start/tutorial': ['`test/documents/tutorial.test.ts` runs it, kills it and starts it again'],
};
