import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { chartDigest, chartFolder, rendered } from '../../scripts/kubernetes/chart-files.ts';
import { readText, root } from '../repository/source-files.ts';

// biome-ignore lint/suspicious/noExplicitAny: manifests have many shapes
type Manifest = any;

const read = (name: string) => readText(`${chartFolder}/${name}`);
const manifestsIn = (name: string): Manifest[] =>
  parseAllDocuments(read(`rendered/${name}`))
    .map((document) => document.toJS())
    .filter(Boolean);
const labelsFit = (selector: Record<string, string>, labels: Record<string, string>) =>
  Object.entries(selector).every(([name, value]) => labels[name] === value);
const environmentOf = (container: Manifest): Record<string, Manifest> =>
  Object.fromEntries(container.env.map((one: Manifest) => [one.name, one.value ?? one.valueFrom]));

describe.each(Object.keys(rendered))('the manifests of %s', (name) => {
  const manifests = manifestsIn(name);
  const ofKind = (kind: string) => manifests.filter((one) => one.kind === kind);
  const deployments = ofKind('Deployment');
  const pods = deployments.map(({ spec }) => spec.template);

  it('are those of the chart as it is', () => {
    expect(read(`rendered/${name}`).split('\n', 1)[0], 'run `node scripts/render-chart.ts`').toContain(
      ` ${chartDigest()}.`,
    );
  });

  it('give processes more time to end than a drain takes', () => {
    expect(deployments.map(({ metadata }) => metadata.name)).toEqual([
      'agent-baton-server',
      'agent-baton-worker',
    ]);
    for (const { spec } of pods) {
      const [container] = spec.containers;
      const drainS = Number(environmentOf(container).GRACE_MS) / 1_000;
      const preStopS = container.lifecycle?.preStop.sleep.seconds ?? 0;
      expect(spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(preStopS + drainS + 5);
    }
  });

  it('ask the probes that say what they are asked for', () => {
    for (const { spec } of pods) {
      const [{ ports, startupProbe, livenessProbe, readinessProbe }] = spec.containers;
      const paths = [startupProbe, livenessProbe, readinessProbe].map((probe) => probe.httpGet);
      expect(paths).toEqual(['/startupz', '/livez', '/readyz'].map((path) => ({ path, port: 'probes' })));
      expect(ports.map((port: Manifest) => port.name)).toContain('probes');
      // A call of the store may take five seconds before `/readyz` is 503.
      expect(readinessProbe.timeoutSeconds).toBeGreaterThan(5);
    }
  });

  it('run without any right, and name secrets without holding one', () => {
    for (const { spec } of pods) {
      expect(spec.automountServiceAccountToken).toBe(false);
      expect(spec.securityContext).toMatchObject({
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      const [container] = spec.containers;
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      const { BATON_STORE, METRICS_TOKEN } = environmentOf(container);
      expect(BATON_STORE.secretKeyRef).toEqual({ name: 'baton-store', key: 'url' });
      expect(METRICS_TOKEN.secretKeyRef).toEqual({ name: 'baton-metrics', key: 'token' });
    }
    expect(ofKind('Secret')).toEqual([]);
  });

  it('select the pods that they are for', () => {
    for (const { spec } of deployments)
      expect(labelsFit(spec.selector.matchLabels, spec.template.metadata.labels)).toBe(true);
    const selectors = [
      ...[...ofKind('PodDisruptionBudget'), ...ofKind('PodMonitor')].map(
        (one) => one.spec.selector.matchLabels,
      ),
      ...ofKind('NetworkPolicy').map((one) => one.spec.podSelector.matchLabels),
    ];
    expect(selectors.length).toBeGreaterThan(1);
    for (const selector of selectors)
      expect(pods.some(({ metadata }) => labelsFit(selector, metadata.labels))).toBe(true);
    const [service] = ofKind('Service');
    const [server, worker] = pods.map(({ metadata }) => labelsFit(service.spec.selector, metadata.labels));
    expect([server, worker]).toEqual([true, false]);
    expect(ofKind('Ingress')[0].spec.rules[0].http.paths[0].backend.service.name).toBe(service.metadata.name);
  });

  it('start programs that are there, which read every variable', () => {
    const sources = ['agent-options', 'probes', 'server', 'worker']
      .map((file) => readText(`apps/two-servers/src/${file}.ts`))
      .join('\n');
    for (const { spec } of pods) {
      const [container] = spec.containers;
      expect(existsSync(join(root, container.command.at(-1)))).toBe(true);
      for (const variable of Object.keys(environmentOf(container)))
        if (!['NODE_ENV', 'OPENAI_MODEL'].includes(variable)) expect(sources, variable).toContain(variable);
    }
  });
});

describe('the manifests with everything', () => {
  const manifests = manifestsIn('everything.yml');
  const one = (kind: string) => manifests.find((manifest) => manifest.kind === kind);

  it('leave the number of pods to autoscalers, which wait for a drain before they take the next one', () => {
    const grace: Record<string, number> = {};
    for (const { kind, metadata, spec } of manifests)
      if (kind === 'Deployment') {
        expect(spec.replicas).toBeUndefined();
        grace[metadata.name] = spec.template.spec.terminationGracePeriodSeconds;
      }
    const scaled = one('ScaledObject').spec;
    const hpa = one('HorizontalPodAutoscaler').spec;
    for (const [target, { scaleDown }] of [
      [scaled.scaleTargetRef, scaled.advanced.horizontalPodAutoscalerConfig.behavior],
      [hpa.scaleTargetRef, hpa.behavior],
    ]) {
      expect(scaleDown.policies).toEqual([{ type: 'Pods', value: 1, periodSeconds: expect.any(Number) }]);
      expect(scaleDown.policies[0].periodSeconds).toBeGreaterThanOrEqual(
        Math.min(1_800, grace[target.name] ?? 0),
      );
      expect(scaleDown.stabilizationWindowSeconds).toBe(300);
    }
  });

  it('scale workers by what waits and what runs, and never in because a number is missing', () => {
    const { triggers, minReplicaCount } = one('ScaledObject').spec;
    const [{ type, metadata }] = triggers;
    expect([type, minReplicaCount, metadata.ignoreNullValues, metadata.threshold]).toEqual([
      'prometheus',
      1,
      'false',
      '35',
    ]);
    expect(metadata.query).toMatch(/^max\(baton_turns_waiting\{.*\}\) \+ sum\(baton_turns_running\{.*\}\)$/);
  });

  it('close the network but for clients, the monitoring, the store and other hosts', () => {
    const { ingress, egress, policyTypes } = one('NetworkPolicy').spec;
    expect(policyTypes).toEqual(['Ingress', 'Egress']);
    expect(ingress.map(({ ports }: Manifest) => ports[0].port)).toEqual(['http', 'probes']);
    expect(egress.map(({ to }: Manifest) => to.length)).toEqual([1, 1, 1]);
    expect(egress.at(-1).to[0].ipBlock.except).toEqual(
      expect.arrayContaining(['169.254.0.0/16', '100.64.0.0/10']),
    );
    expect(one('PodMonitor').spec.podMetricsEndpoints[0]).toMatchObject({
      path: '/metrics',
      authorization: { credentials: { name: 'baton-metrics', key: 'token' } },
    });
  });
});

describe('the values of the chart', () => {
  const schema = JSON.parse(read('baton/values.schema.json'));
  const refOf = (node: Manifest): Manifest =>
    node.$ref ? schema.definitions[node.$ref.split('/').at(-1)] : node.allOf ? refOf(node.allOf[0]) : node;

  it('are those of its schema, which refuses any other name', () => {
    const compare = (value: Manifest, given: Manifest, path: string) => {
      const node = refOf(given);
      if (!node.properties) return;
      expect(node.additionalProperties, path).toBe(false);
      const known = Object.keys(node.properties).filter((key) => key !== 'global');
      expect(Object.keys(value).sort(), path).toEqual(known.sort());
      for (const key of known) compare(value[key], node.properties[key], `${path}.${key}`);
    };
    compare(parse(read('baton/values.yaml')), schema, 'values');
  });
});

describe('the compose file with PostgreSQL', () => {
  const { services } = parse(read('compose.yml'), { merge: true });

  it('starts the same programs with the same care', () => {
    for (const name of ['server', 'worker']) {
      const { environment, stop_grace_period: grace, command, ...service } = services[name];
      expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
      expect(Number.parseInt(grace, 10) * 1_000).toBeGreaterThan(Number(environment.GRACE_MS));
      expect(environment.BATON_STORE).toMatch(/^postgres:\/\/baton:\$\{POSTGRES_PASSWORD:\?\}@/);
      expect(existsSync(join(root, command.at(-1)))).toBe(true);
    }
  });

  it('reads the rules of this repository', () => {
    const [mount = ''] = services.prometheus.volumes;
    expect(existsSync(join(root, chartFolder, mount.split(':')[0]))).toBe(true);
  });
});
