import { parseHostedControlPlane } from '../../constructs/api/parse-manifest.ts';
import { apiVersion } from '../../constructs/api/group.ts';
import { type RenderedObject, renderControlPlane } from '../../constructs/control-plane/chart.ts';
import { type ClusterNetworkSpec, type HostedCluster, networkOf } from '../../constructs/cluster/cluster.ts';
import type { EtcdRestoreFacts, Facts, FactsWith } from '../../constructs/cluster/facts.ts';
import { type Workload, workloadsOf } from './rendered-objects.ts';

export interface ClusterChanges {
  readonly name?: string;
  readonly network?: ClusterNetworkSpec;
  /** Fields of the spec besides version and a load balancer. */
  readonly spec?: object;
}

/** A small cluster to render, named `c1`. @throws when the spec is invalid. */
export function clusterOf({ name = 'c1', network, spec }: ClusterChanges = {}): HostedCluster {
  const parsed = parseHostedControlPlane({
    apiVersion,
    kind: 'HostedControlPlane',
    metadata: { name: 'any', namespace: 'team' },
    spec: { version: 'v1.36.3', exposure: { loadBalancer: {} }, ...spec },
  });
  if (!parsed.valid) throw new Error(parsed.message);
  return { name, namespace: 'team', network: networkOf(network), spec: parsed.hostedControlPlane.spec };
}

/** Facts in which everything is known. */
export const knownFacts: FactsWith<'endpoint' | 'konnectivityEndpoint'> = {
  endpoint: { host: '192.0.2.10', port: 6443 },
  konnectivityEndpoint: { host: '192.0.2.10', port: 8132 },
  advertiseAddress: '192.0.2.10',
  serviceAddress: { ip: '192.0.2.10' },
  clusterCA: 'PEM of the CA',
  encryptionAtRest: true,
  nodes: 3,
  certificates: {},
  mounts: {},
};

/** A restore in progress. */
export const anyRestore: EtcdRestoreFacts = {
  run: '2026-11-21T12-00-00Z-5f0c1d2e',
  sizeBytes: 20_971_520,
  sha256: '0'.repeat(64),
  revisionBump: 1_000_000_000,
  operatorImage: 'registry.example.org/operator:v1',
};

/** The rendered objects of a cluster, by kind and name. */
export class Rendered {
  readonly objects: readonly RenderedObject[];

  constructor(changes: ClusterChanges = {}, facts: Partial<Facts> = {}) {
    this.objects = renderControlPlane(clusterOf(changes), { ...knownFacts, ...facts });
  }

  /** @throws if there is no such object. */
  object(kind: string, name: string): RenderedObject {
    const found = this.objects.find((object) => object.kind === kind && object.metadata.name === name);
    if (!found) throw new Error(`no ${kind} ${name} is rendered`);
    return found;
  }

  /** The Deployment or StatefulSet of this name. @throws if there is none. */
  workload(name: string): Workload {
    const found = workloadsOf(this.objects).find(({ object }) => object.metadata.name === name);
    if (!found) throw new Error(`no workload ${name} is rendered`);
    return found;
  }

  /** The arguments of a container, by flag. @throws if there is no such container. */
  flags(workload: string, container: string): Record<string, string> {
    const found = this.workload(workload).containers.find(({ name }) => name === container);
    if (!found) throw new Error(`workload ${workload} has no container ${container}`);
    return Object.fromEntries(
      (found.args ?? []).map((arg) => [arg.slice(2, arg.indexOf('=')), arg.slice(arg.indexOf('=') + 1)]),
    );
  }
}
