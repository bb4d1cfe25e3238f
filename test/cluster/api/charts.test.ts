import { App } from 'cdk8s';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hetznerChartFiles, renderHetznerCluster } from '../../../constructs/stacks/hetzner/chart.ts';
import { capoVersions } from '../../../constructs/stacks/openstack/class-patch.ts';
import { OpenStackClusterClass } from '../../../constructs/stacks/openstack/cluster-class.ts';
import { classNameOf, clusterStackFiles, releaseName } from '../../../constructs/stacks/openstack/cluster-stack.ts';
import { renderedMinors } from '../../../constructs/stacks/openstack/minors.ts';
import { chartOf, type InstalledChart } from '../../support/stacks/helm.ts';
import { accepted, refused } from '../../constructs/stacks/hetzner/values-cases.ts';

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
