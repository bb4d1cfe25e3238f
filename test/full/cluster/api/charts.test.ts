import { App } from 'cdk8s';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CustomResourceDefinition, Namespace } from '../../../../constructs/api/resources.ts';
import { type ProviderChartProps, renderProvider } from '../../../../constructs/provider/chart.ts';
import { type GivenProviderValues, providerChartFiles } from '../../../../constructs/provider/helm/chart.ts';
import { managerImage } from '../../../../constructs/provider/image.ts';
import { renderMonitoring } from '../../../../constructs/provider/monitoring/chart.ts';
import { managerEnvironment } from '../../../../constructs/provider/operator.ts';
import { hetznerChartFiles, renderHetznerCluster } from '../../../../constructs/stacks/hetzner/chart.ts';
import { capoVersions } from '../../../../constructs/stacks/openstack/class-patch.ts';
import { OpenStackClusterClass } from '../../../../constructs/stacks/openstack/cluster-class.ts';
import { classNameOf, clusterStackFiles, releaseName } from '../../../../constructs/stacks/openstack/cluster-stack.ts';
import { renderedMinors } from '../../../../constructs/stacks/openstack/minors.ts';
import { chartOf, type InstalledChart } from '../../../support/stacks/helm.ts';
import { accepted, refused } from '../../../constructs/stacks/hetzner/values-cases.ts';

const levels = { LOG_FORMAT: 'text', LOG_LEVEL: 'debug' };

describe('the chart of the provider in Helm', () => {
  const release = 'provider';
  let chart: InstalledChart;
  beforeAll(async () => {
    chart = await chartOf(providerChartFiles(managerImage));
  });
  afterAll(() => chart?.remove());

  /** What the constructs render, as Helm installs it: it creates the namespace, and keeps the CRDs. */
  const constructs = (props: ProviderChartProps): object[] =>
    renderProvider(props)
      .filter(({ kind }) => kind !== Namespace.kind)
      .map((object) => {
        if (object.kind !== CustomResourceDefinition.kind) return object;
        const annotations = { 'helm.sh/resource-policy': 'keep' };
        return { ...object, metadata: { ...object.metadata, annotations } };
      });

  it.each<[what: string, values: GivenProviderValues, props: ProviderChartProps]>([
    ['the default values', {}, {}],
    ['another image', { image: 'registry.example.org/manager:v1' }, { image: 'registry.example.org/manager:v1' }],
    ['one namespace', { watchNamespace: 'team-a' }, { watchNamespace: 'team-a' }],
    ['a network policy', { networkPolicy: true }, { networkPolicy: true }],
    [
      'one namespace and further arguments',
      { watchNamespace: 'team-a', args: ['--watch-filter', 'a'] },
      { watchNamespace: 'team-a', manager: { args: ['--watch-filter', 'a'] } },
    ],
    [
      'every setting of the pods',
      {
        replicas: 1,
        args: ['--watch-filter=a'],
        env: { LOG_LEVEL: 'debug', LOG_FORMAT: 'text' },
        imagePullSecrets: [{ name: 'registry' }],
        nodeSelector: { pool: 'a' },
        tolerations: [],
        affinity: { nodeAffinity: {} },
        priorityClassName: 'mine',
      },
      {
        manager: {
          replicas: 1,
          args: ['--watch-filter=a'],
          environment: { ...managerEnvironment, ...levels },
          imagePullSecrets: [{ name: 'registry' }],
          nodeSelector: { pool: 'a' },
          tolerations: [],
          affinity: { nodeAffinity: {} },
          priorityClassName: 'mine',
        },
      },
    ],
  ])('makes the objects of the constructs with %s', async (_, values, props) => {
    expect(await chart.lint(values)).toContain('0 chart(s) failed');
    const objects = await chart.template(release, 'capi-hosted-control-plane-system', values);
    const expected = constructs(props);
    expect(objects).toHaveLength(expected.length);
    expect(objects).toEqual(expect.arrayContaining(expected));
  });

  it('adds the monitoring of the operator in its namespace, with the templates of alerts as they are', async () => {
    const objects = await chart.template(release, 'elsewhere', { monitoring: true });
    expect(objects).toEqual(
      expect.arrayContaining([...constructs({ namespace: 'elsewhere' }), ...renderMonitoring('elsewhere')]),
    );
    expect(JSON.stringify(objects)).toContain('{{ $labels.');
  });

  it('installs into the namespace of the release', async () => {
    const objects = await chart.template(release, 'elsewhere', {});
    expect(objects).toEqual(expect.arrayContaining(constructs({ namespace: 'elsewhere' })));
  });

  it.each<[string, object]>([
    ['an unknown value', { replica: 2 }],
    ['no pods', { replicas: 0 }],
    ['a number as a variable', { env: { MAX_CONCURRENT_RECONCILES: 10 } }],
  ])('refuses %s by its schema', async (_, values) => {
    await expect(chart.template(release, 'any', values)).rejects.toThrow(
      "values don't meet the specifications of the schema",
    );
  });
});

describe('the Hetzner chart in Helm', () => {
  let chart: InstalledChart;
  beforeAll(async () => {
    chart = await chartOf(hetznerChartFiles());
  });
  afterAll(() => chart?.remove());

  it.each(Object.entries(accepted))('makes the objects of the constructs with %s', async (_, values) => {
    expect(await chart.lint(values)).toContain('0 chart(s) failed');
    const objects = await chart.template('cluster01', 'kcm-system', values);
    const constructs = renderHetznerCluster('cluster01', 'kcm-system', values);
    expect(objects).toHaveLength(constructs.length);
    expect(objects).toEqual(expect.arrayContaining(constructs));
  });

  it.each(Object.entries(refused))('refuses %s by its schema', async (_, values) => {
    await expect(chart.template('cluster01', 'kcm-system', values)).rejects.toThrow(
      "values don't meet the specifications of the schema",
    );
  });
});

describe.each(capoVersions)('the chart of the ClusterClass for %s of CAPO in Helm', (capo) => {
  it.each(renderedMinors)('makes the objects of the constructs for Kubernetes 1.%i', async (minor) => {
    const stack = { minor, capo, version: 'v1' };
    const inChart = 'cluster-class/';
    const files = clusterStackFiles(stack).flatMap(({ path, content }) =>
      path.startsWith(inChart) ? [{ path: path.slice(inChart.length), content }] : [],
    );
    const chart = await chartOf(files);
    try {
      expect(await chart.lint({})).toContain('0 chart(s) failed');
      const objects = await chart.template(releaseName(stack), 'stacks', {});
      const cluster = new OpenStackClusterClass(new App(), 'class', { name: classNameOf(stack), capo });
      const constructs = cluster.toJson() as object[];
      expect(objects).toHaveLength(constructs.length);
      expect(objects).toEqual(expect.arrayContaining(constructs));
    } finally {
      await chart.remove();
    }
  });
});
