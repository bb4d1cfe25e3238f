import { App, Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import { HostedControlPlane } from '../api/resources.ts';
import { ApiServer } from './api-server.ts';
import { ApiServerService } from './api-server-service.ts';
import type { HostedCluster } from './cluster.ts';
import { ControllerManager } from './controller-manager.ts';
import { Etcd } from './etcd.ts';
import type { Facts } from './facts.ts';
import { type ComponentName, componentLabel } from './labels.ts';
import { Scheduler } from './scheduler.ts';

export interface ControlPlaneChartProps {
  readonly cluster: HostedCluster;
  readonly facts: Facts;
}

/** Everything one hosted control plane consists of in the management cluster, apart from Secrets. */
export class ControlPlaneChart extends Chart {
  constructor(scope: Construct, id: string, { cluster, facts }: ControlPlaneChartProps) {
    super(scope, id, { disableResourceNameHashes: true });
    new ApiServerService(this, 'api-server-service', { cluster });
    new Etcd(this, 'etcd', { cluster, facts });
    if (facts.endpoint) new ApiServer(this, 'api-server', { cluster, facts, endpoint: facts.endpoint });
    new ControllerManager(this, 'controller-manager', { cluster, facts });
    new Scheduler(this, 'scheduler', { cluster, facts });
  }
}

/** A rendered object: plain JSON, ready to be applied. */
export interface RenderedObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Record<string, string>;
    readonly annotations?: Record<string, string>;
    readonly ownerReferences?: OwnerReference[];
  };
  readonly [field: string]: unknown;
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller: boolean;
  readonly blockOwnerDeletion: boolean;
}

/** Renders the chart. The same cluster and facts give the same objects, byte for byte. */
export function renderControlPlane(cluster: HostedCluster, facts: Facts): RenderedObject[] {
  const chart = new ControlPlaneChart(new App(), 'control-plane', { cluster, facts });
  const objects = chart.toJson() as RenderedObject[];
  const ownerReferences = facts.owner ? [ownerReference(facts.owner)] : undefined;
  return ownerReferences
    ? objects.map((object) => ({ ...object, metadata: { ...object.metadata, ownerReferences } }))
    : objects;
}

/** The objects of one component; of the API server without its Service, which exists long before it. */
export function componentObjects(cluster: HostedCluster, facts: Facts, component: ComponentName): RenderedObject[] {
  return renderControlPlane(cluster, facts).filter(
    ({ kind, metadata }) =>
      metadata.labels?.[componentLabel] === component && !(component === 'api-server' && kind === 'Service'),
  );
}

/** The HostedControlPlane as controlling owner. */
export function ownerReference(owner: { readonly name: string; readonly uid: string }): OwnerReference {
  return {
    apiVersion: HostedControlPlane.apiVersion,
    kind: HostedControlPlane.kind,
    name: owner.name,
    uid: owner.uid,
    controller: true,
    blockOwnerDeletion: true,
  };
}
