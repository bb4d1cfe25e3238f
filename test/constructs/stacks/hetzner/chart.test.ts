import { parse, parseAllDocuments } from 'yaml';
import { describe, expect, it } from 'vitest';
import { parseHostedControlPlane } from '../../../../constructs/api/parse-manifest.ts';
import { hetznerChartFiles, renderHetznerCluster } from '../../../../constructs/stacks/hetzner/chart.ts';
import { type GivenHetznerValues, HetznerValues } from '../../../../constructs/stacks/hetzner/values.ts';
import type { KubeObject } from '../../../../reconciler/kube/object.ts';
import { refusedByCaph } from '../../../support/stacks/caph-rules.ts';
import { problemsOf } from '../../../support/stacks/foreign-schema.ts';
import { renderTemplate } from '../../../support/stacks/go-template.ts';
import { type JsonSchema, violations } from '../../../support/stacks/json-schema.ts';
import { accepted, refused, writtenForK0s } from './values-cases.ts';

const files = new Map(hetznerChartFiles().map(({ path, content }) => [path, content]));
const schema = JSON.parse(files.get('values.schema.json') ?? '') as JsonSchema;
const defaults = parse(files.get('values.yaml') ?? '') as Readonly<Record<string, unknown>>;

/** Values as Helm merges them into the defaults. */
function merged(base: unknown, given: unknown): unknown {
  if (!isMap(base) || !isMap(given)) return given;
  const keys = [...new Set([...Object.keys(base), ...Object.keys(given)])];
  return Object.fromEntries(keys.map((key) => [key, key in given ? merged(base[key], given[key]) : base[key]]));
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What Helm makes of the chart. */
function installed(given: object): KubeObject[] {
  const data = { Release: { Name: 'cluster01', Namespace: 'kcm-system' }, Values: merged(defaults, given) };
  return [...files]
    .filter(([path]) => path.startsWith('templates/'))
    .flatMap(([, content]) => parseAllDocuments(renderTemplate(content, data)))
    .map((document) => document.toJS() as KubeObject);
}

const rendered = (given: GivenHetznerValues) => renderHetznerCluster('cluster01', 'kcm-system', given);
const find = (objects: readonly KubeObject[], kind: string) => {
  const found = objects.find((object) => object.kind === kind) as (KubeObject & { spec: object }) | undefined;
  if (!found) throw new Error(`no ${kind}`);
  return found;
};

describe.each(Object.entries(accepted))('the chart with %s', (_, given) => {
  const objects = installed(given);

  it('has values that its schema accepts, as the constructs do', () => {
    expect(violations(schema, merged(defaults, given))).toEqual([]);
    expect(HetznerValues.safeParse(given).error).toBeUndefined();
  });

  it('makes the objects that the constructs make', () => {
    expect(objects).toHaveLength(6);
    expect(objects).toEqual(expect.arrayContaining(rendered(given)));
  });

  it('makes objects of Hetzner that the schemas and the webhook accept', () => {
    const foreign = objects.filter(({ apiVersion }) => apiVersion.startsWith('infrastructure.'));
    expect(foreign.flatMap(problemsOf)).toEqual([]);
    expect(refusedByCaph(find(objects, 'HetznerCluster'))).toEqual([]);
  });

  it('makes a HostedControlPlane that is valid, for the endpoint of the HetznerCluster', () => {
    const parsed = parseHostedControlPlane(find(objects, 'HostedControlPlane'));
    if (!parsed.valid) throw new Error(parsed.message);
    const { exposure = {} } = parsed.hostedControlPlane.spec;
    const { ingress, nodePort } = exposure;
    const host = ingress?.apiHost ?? nodePort?.address;
    const endpoint = host === undefined ? undefined : { host, port: ingress?.port ?? nodePort?.port };
    expect((find(objects, 'HetznerCluster').spec as { controlPlaneEndpoint?: unknown }).controlPlaneEndpoint).toEqual(
      endpoint,
    );
  });
});

describe('the chart with values that were written for k0s', () => {
  const objects = installed(writtenForK0s);

  it('installs the version of Kubernetes everywhere', () => {
    expect(JSON.stringify(objects)).not.toContain('k0s.0');
    expect(find(objects, 'HostedControlPlane').spec).toMatchObject({ version: 'v1.34.3', replicas: 1 });
    expect(find(objects, 'MachineDeployment').spec).toMatchObject({
      replicas: 2,
      template: { spec: { version: 'v1.34.3', failureDomain: 'nbg1' } },
    });
    expect(JSON.stringify(find(objects, 'KubeadmConfigTemplate'))).toContain('version=v1.34.3\\n');
  });

  it('has the names that other templates of kcm give', () => {
    expect(objects.map(({ kind, metadata }) => `${kind} ${metadata.name.replace(/[0-9a-f]{8}$/, '<hash>')}`)).toEqual([
      'Cluster cluster01',
      'HostedControlPlane cluster01-cp',
      'HetznerCluster cluster01',
      'HCloudMachineTemplate cluster01-mt-<hash>',
      'KubeadmConfigTemplate cluster01-machine-config',
      'MachineDeployment cluster01-md',
    ]);
  });

  it('gives CAPH what the user wrote', () => {
    expect(find(objects, 'HetznerCluster').spec).toEqual({
      controlPlaneEndpoint: { host: 'api.cluster01.k0s.enopax.io', port: 443 },
      controlPlaneLoadBalancer: { enabled: false },
      controlPlaneRegions: ['nbg1'],
      hcloudNetwork: writtenForK0s.hcloudNetwork,
      hetznerSecretRef: { name: 'hcloud-cluster-provisioning-token', key: { hcloudToken: 'HCLOUD_TOKEN' } },
      sshKeys: { hcloud: [{ name: 'felix@chump' }] },
    });
  });

  it('replaces the template of machines, which is immutable, when image or type change', () => {
    const nameWith = (worker: object) =>
      find(installed({ ...writtenForK0s, worker: { ...writtenForK0s.worker, ...worker } }), 'HCloudMachineTemplate')
        .metadata.name;
    expect(new Set([nameWith({}), nameWith({ type: 'cpx32' }), nameWith({ image: 'debian-13' })]).size).toBe(3);
    expect(nameWith({})).toBe(nameWith({}));
  });
});

describe('values that are refused', () => {
  it.each(Object.entries(refused))('are %s', (_, given) => {
    expect(violations(schema, merged(defaults, given))).not.toEqual([]);
    expect(HetznerValues.safeParse(given).success).toBe(false);
  });
});
