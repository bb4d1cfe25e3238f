import { App } from 'cdk8s';
import { parse, parseAllDocuments } from 'yaml';
import { describe, expect, it } from 'vitest';
import { supportedMinors } from '../../../../constructs/cluster/minors.ts';
import { capoVersions } from '../../../../constructs/stacks/openstack/class-patch.ts';
import { OpenStackClusterClass } from '../../../../constructs/stacks/openstack/cluster-class.ts';
import { classNameOf, clusterStackFiles } from '../../../../constructs/stacks/openstack/cluster-stack.ts';
import { renderedMinors, stackMinors } from '../../../../constructs/stacks/openstack/minors.ts';
import { renderTemplate } from '../../../support/stacks/go-template.ts';

const minors = Object.keys(stackMinors).map(Number);
const stacks = capoVersions.flatMap((capo) => minors.map((minor) => ({ minor, capo, version: 'v1' })));

describe('the minors with a stack', () => {
  it('are all that the provider supports', () => expect(renderedMinors).toEqual(supportedMinors));

  it('have versions of their own minor', () => {
    for (const [minor, { kubernetes }] of Object.entries(stackMinors)) expect(kubernetes).toMatch(`1.${minor}.`);
  });

  it('do not include 1.31, and the error names those there are', () => {
    expect(() => clusterStackFiles({ minor: 31, version: 'v1', capo: 'v1beta1' })).toThrow(
      'there is no OpenStack stack for Kubernetes 1.31: use 1.32, 1.33, 1.34, 1.35, 1.36, 1.37',
    );
  });
});

describe.each(stacks)('the stack of 1.$minor for $capo of CAPO', (stack) => {
  const files = new Map(clusterStackFiles(stack).map(({ path, content }) => [path, content]));
  const read = (path: string) => parse(files.get(path) ?? '') as Readonly<Record<string, unknown>>;

  it('has the files of a cluster stack', () => {
    expect([...files.keys()].toSorted()).toEqual(
      [
        'csctl.yaml',
        'stack.yaml',
        'clusteraddon.yaml',
        ...['.helmignore', 'Chart.yaml', 'values.yaml'].map((file) => `cluster-class/${file}`),
        ...[
          'cluster-class',
          'hosted-control-plane-template',
          'kubeadm-config-template-default-worker',
          'openstack-cluster-template',
          'openstack-machine-template-default-worker',
        ].map((file) => `cluster-class/templates/${file}.yaml`),
        ...['ccm', 'cni', 'csi', 'metrics-server'].flatMap((addOn) => [
          `cluster-addon/${addOn}/Chart.yaml`,
          `cluster-addon/${addOn}/values.yaml`,
        ]),
        ...['ccm', 'csi'].map((addOn) => `cluster-addon/${addOn}/overwrite.yaml`),
      ].toSorted(),
    );
  });

  it('has a chart from which Helm makes the objects of the construct, with the name of the class', () => {
    const { name: chart, version } = read('cluster-class/Chart.yaml');
    const release = String(chart).replace('-cluster-class', '');
    const data = { Release: { Name: release }, Chart: { Version: version } };
    const rendered = [...files]
      .filter(([path]) => path.includes('/templates/'))
      .flatMap(([, content]) => parseAllDocuments(renderTemplate(content, data)))
      .map((document): unknown => document.toJS());
    const name = classNameOf(stack);
    expect(name).toBe(`${release}-v1`);
    expect(name).toBe(
      `openstack-hosted-control-plane${stack.capo === 'v1beta2' ? '-v1beta2' : ''}-1-${stack.minor}-v1`,
    );
    const constructs = new OpenStackClusterClass(new App(), 'class', { name, capo: stack.capo }).toJson() as object[];
    expect(rendered).toHaveLength(constructs.length);
    expect(rendered).toEqual(expect.arrayContaining(constructs));
  });

  it('names its own Kubernetes version to csctl', () => {
    expect(read('csctl.yaml')).toMatchObject({
      config: { kubernetesVersion: `v${stackMinors[stack.minor]?.kubernetes}`, provider: { type: 'openstack' } },
    });
    expect(read('stack.yaml')).toMatchObject({ provider: 'openstack', kubernetesVersion: `1.${stack.minor}` });
  });

  it('applies the add-ons in the same order at both hooks', () => {
    const steps = ['cni', 'metrics-server', 'csi', 'ccm'].map((name) => ({ name, action: 'apply' }));
    expect(read('clusteraddon.yaml')).toEqual({
      apiVersion: 'clusteraddonconfig.x-k8s.io/v1alpha1',
      clusterAddonVersion: 'clusteraddons.clusterstack.x-k8s.io/v1alpha1',
      addonStages: { AfterControlPlaneInitialized: steps, BeforeClusterUpgrade: steps },
    });
  });

  it('installs the charts of its minor, with values for that chart only', () => {
    const charts = ['cni', 'metrics-server', 'csi', 'ccm'].map((addOn) => {
      const { dependencies } = read(`cluster-addon/${addOn}/Chart.yaml`) as {
        dependencies: { name: string; version: string }[];
      };
      expect(Object.keys(read(`cluster-addon/${addOn}/values.yaml`))).toEqual(dependencies.map(({ name }) => name));
      return dependencies.map(({ name, version }) => [name, version]);
    });
    expect(Object.fromEntries(charts.flat())).toEqual(stackMinors[stack.minor]?.charts);
  });

  it('places no add-on on control plane nodes, of which a hosted cluster has none', () => {
    const values = ['cni', 'metrics-server', 'csi', 'ccm'].map((addOn) => read(`cluster-addon/${addOn}/values.yaml`));
    const placed = values.flatMap((value) => [...JSON.stringify(value).matchAll(/"node-role[^,}]*/g)]);
    // null removes the chart's own selector.
    expect(placed.map(([text]) => text)).toEqual(['"node-role.kubernetes.io/control-plane":null']);
  });

  it('gives add-ons the name of the Cluster', () => {
    const overwritten = ['csi', 'ccm'].map((addOn) => {
      const { values } = read(`cluster-addon/${addOn}/overwrite.yaml`);
      return parse(renderTemplate(String(values), { Cluster: { metadata: { name: 'prod' } } })) as unknown;
    });
    expect(overwritten).toEqual([
      { 'openstack-cinder-csi': { clusterID: 'prod' } },
      { 'openstack-cloud-controller-manager': { cluster: { name: 'prod' } } },
    ]);
  });
});
