import { App, Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import { heldForAnnotation } from '../api/group.ts';
import { HostedControlPlane } from '../api/resources.ts';
import { type ComponentName, componentLabel } from '../cluster/labels.ts';
import { ApiServer } from './api-server/api-server.ts';
import { ApiServerCheck } from './api-server/check.ts';
import { ApiServerService } from './api-server/service.ts';
import type { HostedCluster } from '../cluster/cluster.ts';
import { ControllerManager } from './controllers/controller-manager.ts';
import { Etcd } from './etcd/etcd.ts';
import { EtcdProbe } from './etcd/probe.ts';
import { EtcdRestore } from './etcd/restore.ts';
import { EtcdVerify } from './etcd/verify.ts';
import { Routes } from './exposure/routes.ts';
import type { Facts, Owner } from '../cluster/facts.ts';
import { NetworkPolicies } from './network-policies/network-policies.ts';
import { Revision } from './revision.ts';
import { Scheduler } from './controllers/scheduler.ts';

/** Parts of the chart, which are applied separately: the API server's Service exists long before its Deployment. */
export type Part =
  | 'revision'
  | 'api-server-service'
  | 'routes'
  | 'network-policies'
  | 'etcd'
  | 'etcd-restore'
  | 'etcd-verify'
  | 'etcd-probe'
  | 'api-server-check'
  | 'api-server'
  | 'controller-manager'
  | 'scheduler';

export interface ControlPlaneChartProps {
  readonly cluster: HostedCluster;
  readonly facts: Facts;
  /** Render only this part. @default everything */
  readonly only?: Part | undefined;
}

/** All objects of one hosted control plane in the management cluster, except Secrets. */
export class ControlPlaneChart extends Chart {
  constructor(scope: Construct, id: string, { cluster, facts, only }: ControlPlaneChartProps) {
    super(scope, id, { disableResourceNameHashes: true });
    const wants = (part: Part) => only === undefined || only === part;
    if (wants('revision')) {
      for (const revision of facts.revisions ?? [])
        new Revision(this, `revision-${revision.number}`, { cluster, revision });
    }
    if (wants('api-server-service')) new ApiServerService(this, 'api-server-service', { cluster });
    if (wants('routes')) new Routes(this, 'routes', { cluster, facts });
    if (wants('network-policies')) new NetworkPolicies(this, 'network-policies', { cluster, facts });
    if (wants('etcd')) new Etcd(this, 'etcd', { cluster, facts });
    if (wants('etcd-restore') && facts.etcdRestore) {
      new EtcdRestore(this, 'etcd-restore', { cluster, restore: facts.etcdRestore });
    }
    if (wants('etcd-verify') && facts.etcdVerify) {
      new EtcdVerify(this, 'etcd-verify', { cluster, run: facts.etcdVerify });
    }
    if (wants('etcd-probe') && facts.etcdProbe) {
      new EtcdProbe(this, 'etcd-probe', { cluster, probe: facts.etcdProbe });
    }
    if (wants('api-server-check') && facts.apiServerCheck && facts.endpoint) {
      const asked = { ...cluster, spec: facts.apiServerCheck };
      new ApiServerCheck(this, 'api-server-check', { cluster: asked, facts, endpoint: facts.endpoint });
    }
    if (wants('api-server') && facts.endpoint) {
      new ApiServer(this, 'api-server', { cluster, facts, endpoint: facts.endpoint });
    }
    if (wants('controller-manager')) new ControllerManager(this, 'controller-manager', { cluster, facts });
    if (wants('scheduler')) new Scheduler(this, 'scheduler', { cluster, facts });
  }
}

/** Which object a chart renders, and whether it has a spec; not what that contains. */
export interface RenderedName {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Pick<RenderedObject['metadata'], 'name' | 'namespace'>;
  readonly spec?: unknown;
}

/** A rendered object: plain JSON that can be applied. */
export interface RenderedObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Record<string, string>;
    readonly annotations?: Record<string, string>;
    readonly ownerReferences?: OwnerReference[];
    readonly finalizers?: string[];
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

/**
 * Renders the chart, or one part of it. The output is deterministic: the same cluster and facts give the same bytes.
 */
export function renderControlPlane(cluster: HostedCluster, facts: Facts, only?: Part): RenderedObject[] {
  const chart = new ControlPlaneChart(new App(), 'control-plane', { cluster, facts, only });
  const objects = chart.toJson() as RenderedObject[];
  const { owner } = facts;
  return owner ? objects.map((object) => ({ ...object, metadata: ownedBy(owner, object) })) : objects;
}

/**
 * A deletion in the foreground deletes all dependents while their owner waits for its finalizer: what a last backup needs is no
 * dependent.
 */
function ownedBy(owner: Owner, { metadata }: RenderedObject): RenderedObject['metadata'] {
  if (!owner.holdsEtcd || metadata.labels?.[componentLabel] !== etcdComponent)
    return { ...metadata, ownerReferences: [ownerReference(owner)] };
  return { ...metadata, annotations: { ...metadata.annotations, [heldForAnnotation]: owner.uid } };
}

const etcdComponent = 'etcd' satisfies ComponentName;

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
