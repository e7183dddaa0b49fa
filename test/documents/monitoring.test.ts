import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAgentServer, reply } from '@batonjs/server';
import { memoryStore } from '@batonjs/store-memory';
import { metricsHandler, telemetry } from '@batonjs/telemetry';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse, stringify } from 'yaml';
import { Observed } from '../../packages/telemetry/src/metrics/gauges.ts';
import { makeInstruments, Registry } from '../../packages/telemetry/src/metrics/registry.ts';
import { temporaryFolder } from '../kit/temporary-folder.ts';
import { readText, root } from '../repository/source-files.ts';
import { hasPromtool, promtool } from '../support/promtool.ts';

interface Rule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly datasource?: unknown;
  readonly targets?: readonly { readonly expr: string; readonly datasource: unknown }[];
}

const folder = 'docs/operating/monitoring';
const { groups } = parse(readText(`${folder}/rules.yml`)) as {
  groups: readonly { readonly rules: readonly Rule[] }[];
};
const rules = groups.flatMap((group) => group.rules);
const alerts = rules.filter(({ alert }) => alert !== undefined);
const dashboard = JSON.parse(readText(`${folder}/dashboard.json`)) as {
  readonly uid: string;
  readonly id: unknown;
  readonly panels: readonly Panel[];
};
const shown = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

/** The names of all series that the code can export. */
async function exported(): Promise<Set<string>> {
  const registry = new Registry();
  new Observed().register(registry);
  makeInstruments([registry]);
  const all = (await registry.collect()).flatMap(({ kind, name }) =>
    kind === 'histogram'
      ? ['_bucket', '_count', '_sum'].map((end) => name + end)
      : [kind === 'counter' ? `${name}_total` : name],
  );
  return new Set(all);
}

const namesIn = (expressions: readonly string[]) =>
  new Set(expressions.flatMap((expr) => expr.match(/\bbaton_[a-z0-9_]+(?=[{[) ]|$)/g) ?? []));

/** Labels that the expressions group or select by have the same prefix. */
const labels = new Set([
  'baton_queue',
  'baton_reason',
  'baton_push_outcome',
  'baton_store_operation',
  'baton_currency',
]);

describe('the dashboard and the rules', () => {
  it('use no metric that the code does not export', async () => {
    const known = await exported();
    const used = namesIn([...shown, ...rules.map(({ expr }) => expr)]);
    expect([...used].filter((name) => !known.has(name) && !labels.has(name))).toEqual([]);
    const recorded = new Set(rules.flatMap(({ record }) => record ?? []));
    const read = rules.flatMap(({ expr }) => expr.match(/\bbaton:[a-z0-9_]+:[a-z0-9]+/g) ?? []);
    expect(read.filter((name) => !recorded.has(name))).toEqual([]);
  });

  it('show each metric that the code exports', async () => {
    const used = namesIn(shown);
    const plain = (name: string) => name.replace(/_(bucket|count|sum)$/, '');
    const usedPlain = new Set([...used].map(plain));
    expect([...(await exported())].map(plain).filter((name) => !usedPlain.has(name))).toEqual([]);
  });

  it('stand on the page of metrics, each with its name for OpenTelemetry', async () => {
    const page = readText('docs/operating/metrics.md');
    for (const name of await exported())
      expect(page, name).toContain(`\`${name.replace(/_(bucket|count|sum)$/, '')}\``);
  });

  it('link each alert to its section of what to do, and have no section without an alert', () => {
    const page = readText('docs/operating/outages.md');
    const sections = [...page.matchAll(/^### (Baton\w+)$/gm)].map(([, name]) => name);
    expect(sections).toEqual(alerts.map(({ alert }) => alert));
    for (const { alert, labels, annotations } of alerts) {
      expect(['critical', 'warning']).toContain(labels?.severity);
      expect(annotations?.runbook_url).toBe(
        `https://github.com/batonjs/baton/blob/main/docs/operating/outages.md#${alert?.toLowerCase()}`,
      );
      expect(Object.keys(annotations ?? {})).toEqual(['runbook_url', 'summary', 'description']);
    }
  });

  it('try each alert in a case of its own', () => {
    const { tests } = parse(readText(`${folder}/rules.test.yml`));
    const fired = JSON.stringify(tests);
    for (const { alert } of alerts)
      expect(fired).toContain(`alertname=\\\\\\"${alert}\\\\\\"`.replaceAll('\\\\', ''));
  });

  it('have what Grafana needs of a dashboard that is provisioned', () => {
    expect([dashboard.id, dashboard.uid.length <= 40]).toEqual([null, true]);
    const ids = dashboard.panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    // biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana replaces it.
    const source = { type: 'prometheus', uid: '${datasource}' };
    for (const { type, title, description, datasource, targets = [] } of dashboard.panels) {
      if (type === 'row') continue;
      expect(description, title).toMatch(/\.$/);
      expect(datasource, title).toEqual(source);
      for (const target of targets) expect(target.datasource, title).toEqual(source);
    }
  });
});

describe.runIf(await hasPromtool())('promtool', () => {
  it('reads the rules, and finds each alert where it should fire and nowhere else', async () => {
    await promtool(['check', 'rules', 'rules.yml'], join(root, folder));
    const output = await promtool(['test', 'rules', 'rules.test.yml'], join(root, folder));
    expect(output).toContain('SUCCESS');
  });

  it('reads each expression of the dashboard', async () => {
    const parsed = shown.map((expr, n) => ({
      record: `panel:${n}`,
      expr: expr.replaceAll('$__rate_interval', '5m').replaceAll(/\$(namespace|queue)/g, '.*'),
    }));
    const at = temporaryFolder();
    writeFileSync(join(at, 'panels.yml'), stringify({ groups: [{ name: 'panels', rules: parsed }] }));
    expect(await promtool(['check', 'rules', 'panels.yml'], at)).toContain('SUCCESS');
  });

  it('has nothing to say against what a server exports', async () => {
    const server = createAgentServer({
      agent: () => reply('hi'),
      card: { name: 'Echo', description: 'For tests' },
      store: memoryStore(),
      telemetry: telemetry({ expose: true }),
    });
    onTestFinished(() => server.close());
    const { fetch } = metricsHandler(server, { token: null });
    const text = await (await fetch(new Request('http://127.0.0.1/'))).text();
    expect(await promtool(['check', 'metrics'], root, text)).toBe('');
  });
});
