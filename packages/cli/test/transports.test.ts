import { createServer } from 'node:http';
import { listenGrpc } from '@batonjs/bindings-grpc';
import { v03 } from '@batonjs/bindings-v0-3';
import { nodeHandler } from '@batonjs/server-node';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listen } from '../../../test/kit/listen.ts';
import { serve } from '../../../test/kit/serve.ts';
import { many, manyCard, serveMany } from './agents.ts';
import { cli, fieldOf } from './cli.ts';
import { message, serveRpc } from './rpc.ts';

/** An agent over all three bindings. Resolves to its URL. */
async function serveAll(): Promise<string> {
  const server = serve(many, { card: manyCard });
  const listener = await listenGrpc(server, { port: 0 });
  onTestFinished(() => listener.close());
  return listen(nodeHandler(server));
}

const used = (stderr: string) => /uses (\S+) /.exec(stderr)?.[1];

/** An agent that answers everything with a message, and has a card. */
async function serveNoting(card: object) {
  const noting = await serveRpc(({ method }) =>
    method ? message : JSON.stringify(cardAt(noting.url, card)),
  );
  const seen = () => noting.calls.filter(({ method }) => method);
  return { url: noting.url, seen };
}

const cardAt = (url: string, card: object) => ({
  name: 'Noting',
  description: 'Notes',
  version: '1',
  supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0', ...card }],
  capabilities: {},
  defaultInputModes: [],
  defaultOutputModes: [],
  skills: [],
});

describe('the transport', () => {
  it('is the first of the card that is built in [A2ACLI_TX_001, A2ACLI_DEFAULT_001]', async () => {
    const url = await serveAll();
    expect(used((await cli(`send -a ${url} --debug hello`)).stderr)).toBe('JSONRPC');
    const card = (await cli(`card get ${url} -o json`)).json;
    const [first, ...rest] = card.supportedInterfaces;
    const fax = { ...first, protocolBinding: 'FAX' };
    const served = await listen(
      createServer((_, response) => {
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ ...card, supportedInterfaces: [fax, ...rest] }));
      }),
    );
    expect(used((await cli(`send -a ${served} --debug hello`)).stderr)).toBe('HTTP+JSON');
  });

  it('is the preferred one that the card has, in the order given; else that of the card [A2ACLI_TX_002, R-CLI-07, R-CLI-30]', async () => {
    const all = await serveAll();
    const two = await serveMany();
    const rows = [
      [all, '--transport grpc', 'GRPC'],
      [all, '--transport GRPC', 'GRPC'],
      [all, '--transport rest', 'HTTP+JSON'],
      [all, '--transport HTTP+JSON --transport grpc', 'HTTP+JSON'],
      [all, '--transport jsonrpc', 'JSONRPC'],
      [two, '--transport grpc --transport rest', 'HTTP+JSON'],
      [two, '--transport grpc', 'JSONRPC'],
    ] as const;
    for (const [url, flags, binding] of rows)
      expect([flags, used((await cli(`send -a ${url} ${flags} --debug hello`)).stderr)]).toEqual([
        flags,
        binding,
      ]);
  });

  it.each(['jsonrpc', 'rest', 'grpc'])(
    '%s gives the same results and errors as the others [A2ACLI_TX_004, A2ACLI_TX_005, R-CLI-70, R-CLI-72]',
    async (transport) => {
      const url = await serveAll();
      const base = `-a ${url} --transport ${transport}`;
      const { task } = (await cli(`send ${base} -o json all`)).json;
      expect(task.artifacts[0].parts).toHaveLength(4);
      expect((await cli(`task get ${base} ${task.id} -o json`)).json.status.state).toBe(
        'TASK_STATE_COMPLETED',
      );
      expect((await cli(`send ${base} -o json --stream hello`)).lines.at(-1).statusUpdate.status.state).toBe(
        'TASK_STATE_COMPLETED',
      );
      expect((await cli(`task list ${base} -o json`)).json.tasks).toHaveLength(2);
      const { json, code } = await cli(`task get ${base} none -o json`);
      expect([code, json.error.code]).toEqual([1, 'TaskNotFoundError']);
      const cancel = await cli(`task cancel ${base} ${task.id} -o json`);
      expect([cancel.code, cancel.json.error.code]).toEqual([1, 'TaskNotCancelableError']);
    },
  );

  it('sends the tenant of the interface in every request, and none if it has none [A2ACLI_TX_003]', async () => {
    const tenant = await serveNoting({ tenant: 'blue' });
    await cli(`send -a ${tenant.url} hello`);
    await cli(`task get -a ${tenant.url} t`);
    expect(tenant.seen().map(({ params }) => params.tenant)).toEqual(['blue', 'blue']);
    const none = await serveNoting({});
    await cli(`send -a ${none.url} hello`);
    expect(none.seen()[0]!.params).not.toHaveProperty('tenant');
  });

  it('of an endpoint without a card is the one that is given [R-CLI-04]', async () => {
    const { url, seen } = await serveNoting({});
    expect((await cli(`send -e ${url} --transport jsonrpc hello`)).code).toBe(0);
    expect(seen()).toHaveLength(1);
    expect((await cli(`send -e ${url} hello`)).code).toBe(2);
    expect((await cli(`send -e ${url} --transport jsonrpc,rest hello`)).code).toBe(2);
  });
});

describe('the version', () => {
  it('is sent with every request, and never goes below 1.0 by itself [A2ACLI_VER_001, R-CLI-31]', async () => {
    const { url, seen } = await serveNoting({});
    await cli(`send -a ${url} hello`);
    await cli(`send -a ${url} --a2a-version 1.7 hello`);
    expect(seen().map(({ headers }) => headers['a2a-version'])).toEqual(['1.0', '1.0']);
    const server = serve(many, { card: manyCard, compatibility: [v03()] });
    const only03 = (await cli(`card get ${await listen(nodeHandler(server))} -o json`)).json;
    const old = only03.supportedInterfaces.filter(
      ({ protocolVersion }: { protocolVersion: string }) => protocolVersion === '0.3',
    );
    expect(old.length).toBeGreaterThan(0);
    const served = await listen(
      createServer((_, response) => {
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ ...only03, supportedInterfaces: old }));
      }),
    );
    const refused = await cli(`send -a ${served} -o json hello`);
    expect(refused).toMatchObject({ code: 1, json: { error: { code: 'A2ACLI_ERR_CARD_INVALID' } } });
    const asked = await cli(`send -a ${served} --a2a-version 0.3 hello`);
    expect(fieldOf(asked.stdout, 'State')).toBe('TASK_STATE_COMPLETED');
  });

  it('comes with the extensions that the agent requires [A2ACLI_VER_002]', async () => {
    const uri = 'https://example.com/needed';
    const capabilities = { extensions: [{ uri, required: true }] };
    const url = await serveMany({ card: { ...manyCard, capabilities } });
    expect((await cli(`send -a ${url} hello`)).code).toBe(0);
  });
});

describe('--debug', () => {
  it.each([
    ['jsonrpc', '"method":"SendStreamingMessage"'],
    ['rest', '/message:stream'],
    ['grpc', 'GRPC SendStreamingMessage'],
  ])(
    'shows the messages on the wire, on standard error: %s [A2ACLI_OUT_007, R-CLI-34]',
    async (transport, sent) => {
      const url = await serveAll();
      const { stdout, stderr } = await cli(`send -a ${url} --transport ${transport} --debug -o json hello`);
      expect(JSON.parse(stdout).task).toBeDefined();
      expect(stderr).toContain(sent);
      expect(stderr).toMatch(/^debug: < .*You said hello/m);
      expect((await cli(`send -a ${url} --transport ${transport} hello`)).stderr).not.toContain('debug:');
    },
  );
});
