import { beforeAll, describe, expect, it } from 'vitest';
import { apiVersion, fieldManager } from '../../constructs/api/group.ts';
import { HostedControlPlaneTemplateSpec } from '../../constructs/api/hosted-control-plane-template.ts';
import { parseHostedControlPlane } from '../../constructs/api/parse-manifest.ts';
import { HostedControlPlane } from '../../constructs/api/resources.ts';
import { type MemoryCluster, ourName } from '../support/loop/memory-cluster.ts';
import { OperatorProcess } from '../support/loop/operator-process.ts';
import { completeCluster } from '../support/loop/scenario.ts';

const topology = { fieldManager: 'capi-topology' };

/** Patches of a ClusterClass, one alone, as an `add` of a JSON patch of the template. */
const patches: readonly { readonly path: string; readonly value: unknown }[] = [
  { path: '/spec/template/spec/replicas', value: 3 },
  { path: '/spec/template/spec/gateway', value: { name: 'capi', namespace: 'default' } },
  { path: '/spec/template/spec/exposure', value: { loadBalancer: {} } },
  { path: '/spec/template/spec/apiServer/certSANs', value: ['api.example.org'] },
  { path: '/spec/template/spec/certificates/leafCertificateDuration', value: '2160h' },
  { path: '/spec/template/spec/deployment/apiServer/args', value: { v: '3' } },
  { path: '/spec/template/spec/deployment/controllerManager/args', value: { v: '3' } },
  { path: '/spec/template/spec/deployment/scheduler/args', value: { v: '3' } },
  { path: '/spec/template/spec/etcd/replicas', value: 3 },
  { path: '/spec/template/spec/etcd/backup', value: { schedule: '@daily', secret: { name: 's3' } } },
  { path: '/spec/template/spec/networkPolicy', value: 'Disabled' },
];

describe('a patch of a class', () => {
  it.each(patches)('adds $path', ({ path, value }) => {
    expect(() => added(template(), path, value)).not.toThrow();
  });

  it('makes a control plane that the operator accepts', () => {
    const together = patches
      .filter(({ path }) => !path.endsWith('/gateway'))
      .reduce((object, { path, value }) => added(object, path, value), template());
    const { spec } = (together as { spec: { template: { spec: object } } }).spec.template;
    const made = {
      apiVersion,
      kind: HostedControlPlane.kind,
      metadata: ourName,
      spec: { ...spec, version: 'v1.36.3' },
    };
    const parsed = parseHostedControlPlane(made);
    expect(parsed.valid ? parsed.hostedControlPlane.spec.replicas : parsed.message).toBe(3);
  });
});

/** A template without any setting, as the API server returns it. */
const template = (): unknown => ({ spec: HostedControlPlaneTemplateSpec.parse({ template: {} }) });

/** The object with one more field. @throws when its parent does not exist, as a JSON patch does */
function added(object: unknown, path: string, value: unknown): unknown {
  const copy = structuredClone(object);
  const steps = path.split('/').slice(1);
  const last = steps.pop() ?? '';
  let parent = copy as Record<string, unknown>;
  for (const step of steps) {
    const next = parent[step];
    if (typeof next !== 'object' || next === null) throw new Error(`${path}: there is no ${step}`);
    parent = next as Record<string, unknown>;
  }
  parent[last] = value;
  return copy;
}

let complete: MemoryCluster;
beforeAll(async () => {
  complete = await completeCluster();
});

describe('a topology', () => {
  it('restarts nothing for another label or annotation, and keeps both', async () => {
    const management = complete.copy();
    const metadata = {
      labels: { 'topology.cluster.x-k8s.io/owned': '', team: 'a' },
      annotations: { 'cluster.x-k8s.io/cloned-from-name': 'default', note: 'b' },
    };
    const machineTemplate = { metadata: { labels: { team: 'a' } } };
    await management.user.mergePatch(HostedControlPlane, ourName, { metadata, spec: { machineTemplate } }, topology);
    const begun = management.management.writes.length;
    const operator = await OperatorProcess.start(management);
    await operator.untilSettled();
    await operator.stop();
    const written = management.management.writes.slice(begun).filter((write) => !/ Event /.test(write));
    expect(new Set(written)).toEqual(new Set([`apply HostedControlPlane ${ourName.namespace}/${ourName.name}`]));
    expect(management.hostedControlPlane).toMatchObject({ metadata, spec: { machineTemplate } });
  });

  it('shares no field of the spec with the operator', () => {
    const entries = complete.hostedControlPlane.metadata.managedFields ?? [];
    const owned = entries
      .filter(({ manager = '', subresource }) => manager.startsWith(fieldManager) && subresource === undefined)
      .flatMap(({ fieldsV1 }) => Object.keys((fieldsV1 as { 'f:spec'?: object } | undefined)?.['f:spec'] ?? {}));
    expect(owned).toEqual(['f:controlPlaneEndpoint']);
    const { spec } = HostedControlPlaneTemplateSpec.parse({
      template: { spec: { controlPlaneEndpoint: {} } },
    }).template;
    expect(spec).not.toHaveProperty('controlPlaneEndpoint');
  });
});
