import type { EndpointSliceObject, NodeObject, ServiceCIDRObject } from '../../../imports/kubernetes.ts';
import { isDeepStrictEqual } from 'node:util';
import { clusterNameLabel } from '../../../constructs/api/group.ts';
import {
  apiServerSlice,
  EndpointSlice,
  Namespace,
  Node,
  type OptionalKind,
  optionalResources,
  type Resource,
  ServiceCIDR,
} from '../../../constructs/api/resources.ts';
import { componentLabel } from '../../../constructs/cluster/labels.ts';
import type { KubernetesApi } from '../../kube/client.ts';
import { isForbidden } from '../../kube/errors.ts';
import {
  apiServerNetworksOf,
  apiServersIn,
  deniedAddressesIn,
  keptOfNode,
  nodeNetworksOf,
  podNetworksOf,
  type ServerAddress,
  serviceNetworksOf,
} from '../network/cluster-networks.ts';
import { LingeringNetworks } from '../network/lingering-networks.ts';
import { Waves } from './waves.ts';
import { gatewayState } from '../exposure/gateway-object.ts';
import { Informer, type InformerOptions } from '../../kube/informer.ts';
import type { ObjectChange } from '../../kube/object-cache.ts';
import { isOlder, type KubeObject, objectKey, type ObjectName } from '../../kube/object.ts';
import type { SharedResources } from './view.ts';
import { type HostClaim, hostClaimOfHostedControlPlane, hostClaimOfRoute, HostClaims } from './host-claims.ts';
import { Subscriptions } from './subscriptions.ts';
import { OptionalApi } from '../../kube/optional-api.ts';

type Handler = (key: string) => void;

/** Topics of subscriptions. */
const topic = {
  denied: 'networks that are denied',
  api: (kind: OptionalKind) => `api ${kind}`,
  gateway: (name: ObjectName) => `gateway ${objectKey(name)}`,
  namespace: (name: string) => `namespace ${name}`,
  host: (host: string) => `host ${host}`,
};

/** What an operator has found out of the networks of its cluster. */
export interface DeniedNetworks {
  /** Kinds that it may not read. */
  readonly unread: readonly string[];
  readonly pods: readonly string[];
  readonly services: readonly string[];
  /** Number of networks that have the addresses of nodes. */
  readonly nodes: number;
  /** Everything that is denied. */
  readonly all: readonly string[];
}

async function mayRead(client: KubernetesApi, resource: Resource): Promise<boolean> {
  try {
    await client.currentVersion(resource);
    return true;
  } catch (error) {
    return !isForbidden(error);
  }
}

/** Watches shared resources, and reports which control planes depend on a changed one. */
export class SharedResourcesWatch {
  readonly #apis: Readonly<Record<OptionalKind, OptionalApi>>;
  readonly #namespaces: Informer;
  readonly #apiServers: Informer<EndpointSliceObject>;
  readonly #nodes: Informer<NodeObject>;
  readonly #serviceCIDRs: Informer<ServiceCIDRObject>;
  readonly #denied: LingeringNetworks;
  readonly #waves: Waves;
  readonly #client: KubernetesApi;
  readonly #claims = new HostClaims();
  /** Versions of the HostedControlPlanes in the index. The response to a write arrives before its watch event. */
  readonly #versions = new Map<string, string>();
  readonly #subscriptions = new Subscriptions();
  readonly #seesEveryClaim: boolean;
  #isOutdated = false;
  #handler: Handler = () => {};

  constructor(
    options: Omit<InformerOptions, 'resource' | 'labelSelector' | 'fieldSelector'>,
    { seesEveryClaim, denied }: { readonly seesEveryClaim: boolean; readonly denied: readonly string[] },
  ) {
    this.#seesEveryClaim = seesEveryClaim;
    const { client, clock } = options;
    this.#client = client;
    this.#waves = new Waves(clock, (key) => this.#handler(key));
    this.#denied = new LingeringNetworks({
      clock,
      fixed: denied,
      onChange: () => this.#waves.add(this.#subscriptions.of([topic.denied])),
    });
    const labelled = { ...options, labelSelector: [clusterNameLabel, componentLabel].join(',') };
    // Gateways, and routes that take a host name, may be in any namespace, also when the operator manages one namespace
    // only.
    const { namespace, ...everywhere } = options;
    this.#apis = {
      Gateway: new OptionalApi({ ...everywhere, known: optionalResources.Gateway }),
      TLSRoute: new OptionalApi({ ...everywhere, known: optionalResources.TLSRoute }),
      IngressRouteTCP: new OptionalApi({ ...labelled, known: optionalResources.IngressRouteTCP }),
      CiliumNetworkPolicy: new OptionalApi({ ...labelled, known: optionalResources.CiliumNetworkPolicy }),
      CertificateRequest: new OptionalApi({ ...labelled, known: optionalResources.CertificateRequest }),
    };
    const fieldSelector = namespace === undefined ? undefined : `metadata.name=${namespace}`;
    this.#namespaces = new Informer({ ...everywhere, resource: Namespace, fieldSelector, metadataOnly: true });
    // The API servers keep this one object themselves.
    this.#apiServers = new Informer<EndpointSliceObject>({
      ...everywhere,
      resource: EndpointSlice,
      namespace: 'default',
      fieldSelector: `metadata.name=${apiServerSlice}`,
    });
    this.#nodes = new Informer<NodeObject>({ ...everywhere, resource: Node, keep: keptOfNode });
    this.#serviceCIDRs = new Informer<ServiceCIDRObject>({ ...everywhere, resource: ServiceCIDR, mayBeUnserved: true });
    this.#listen();
  }

  /** All informers that it needs. */
  get informers(): readonly (Informer | OptionalApi)[] {
    return [...Object.values(this.#apis), this.#namespaces, this.#apiServers];
  }

  /**
   * Watches what the networks of the management cluster are derived from, and resolves when all that may be read has been listed.
   * @param policies of control planes: what they deny was there before
   */
  async derive(policies: readonly KubeObject[]): Promise<DeniedNetworks> {
    const seen = 'denied by policies';
    this.#denied.set(seen, policies.flatMap(deniedAddressesIn));
    const unread: string[] = [];
    await Promise.all(
      [this.#nodes, this.#serviceCIDRs].map(async (informer) => {
        // Where the right is missing, a watch would never begin.
        const isRead = await mayRead(this.#client, informer.resource);
        if (!isRead) return void unread.push(informer.resource.kind);
        informer.start();
        await informer.synced;
      }),
    );
    this.#takeNetworks();
    // What has left while no operator was there to see it leaves now.
    this.#denied.set(seen, []);
    return {
      unread,
      pods: podNetworksOf(this.#nodes.list()),
      services: serviceNetworksOf(this.#serviceCIDRs.list()),
      nodes: nodeNetworksOf(this.#nodes.list()).length,
      all: this.#denied.networks,
    };
  }

  async stop(): Promise<void> {
    this.#denied.stop();
    this.#waves.stop();
    await Promise.all([this.#nodes.stop(), this.#serviceCIDRs.stop()]);
  }

  get apiServers(): readonly ServerAddress[] {
    return this.#apiServers.list().flatMap(apiServersIn);
  }

  /** Networks of the management cluster to which nothing of a tenant may connect. */
  get deniedNetworks(): readonly string[] {
    return this.#denied.networks;
  }

  /** Registers a handler for the key of each HostedControlPlane with a changed subscription. */
  onChange(handler: Handler): void {
    this.#handler = handler;
  }

  /** Updates a HostedControlPlane from a watch, or from the response to a write of the operator. */
  takeHostedControlPlane(change: Pick<ObjectChange<KubeObject>, 'type' | 'object'>): void {
    const { type, object } = change;
    const key = objectKey(object.metadata);
    const version = object.metadata.resourceVersion ?? '0';
    if (isOlder(version, this.#versions.get(key) ?? '0')) return;
    if (type === 'deleted') {
      this.#versions.delete(key);
      this.#subscriptions.forget(key);
    } else {
      this.#versions.set(key, version);
    }
    this.#claim(type, hostClaimOfHostedControlPlane(object));
  }

  /** Accepts older HostedControlPlanes than before, because the versions of the API server have gone back. */
  forgetVersions(): void {
    this.#versions.clear();
  }

  /** The shared resources of one control plane. Every read subscribes it to changes, until the next call. */
  sharedResourcesOf(name: ObjectName & { readonly namespace: string }): SharedResources {
    const key = objectKey(name);
    this.#subscriptions.forget(key);
    const ask = (what: string): void => this.#subscriptions.add(key, what);
    return {
      servedVersions: (kind) => {
        ask(topic.api(kind));
        return this.#apis[kind].versions;
      },
      gateway: (gateway) => {
        ask(topic.gateway(gateway));
        return this.#apis.Gateway.get(gateway);
      },
      deniedNetworks: () => {
        ask(topic.denied);
        return this.#denied.networks;
      },
      namespaceLabels: () => {
        ask(topic.namespace(name.namespace));
        return this.#namespaces.get({ name: name.namespace })?.metadata.labels ?? {};
      },
      hostOwner: (given) => {
        const host = given.toLowerCase();
        ask(topic.host(host));
        return this.#claims.ownerOf(host, key);
      },
      heldHosts: () => this.#claims.hostedControlPlane(key)?.hosts ?? [],
      seesEveryClaim: this.#seesEveryClaim,
    };
  }

  #listen(): void {
    for (const [kind, api] of Object.entries(this.#apis)) {
      api.onServed(() => this.#notify([topic.api(kind as OptionalKind)]));
    }
    this.#apis.Gateway.onChange(({ object, old }) => {
      const isSame = old && gatewayState(old) === gatewayState(object);
      if (!isSame) this.#notify([topic.gateway(object.metadata)]);
    });
    this.#apis.TLSRoute.onChange(({ type, object }) => this.#claim(type, hostClaimOfRoute(object)));
    this.#apiServers.onChange(() => this.#networksMayHaveChanged());
    this.#serviceCIDRs.onChange(() => this.#networksMayHaveChanged());
    this.#nodes.onChange(({ type, object, old }) => {
      // Nodes report their status all the time.
      const isSame =
        type === 'updated' && old && isDeepStrictEqual([old.spec, old.status], [object.spec, object.status]);
      if (!isSame) this.#networksMayHaveChanged();
    });
    this.#namespaces.onChange(({ object, old }) => {
      const isSame = old && JSON.stringify(old.metadata.labels) === JSON.stringify(object.metadata.labels);
      if (!isSame) this.#notify([topic.namespace(object.metadata.name)]);
    });
  }

  /** Once for all changes of a list. */
  #networksMayHaveChanged(): void {
    if (this.#isOutdated) return;
    this.#isOutdated = true;
    queueMicrotask(() => this.#takeNetworks());
  }

  #takeNetworks(): void {
    this.#isOutdated = false;
    this.#denied.set('API servers', apiServerNetworksOf(this.#apiServers.list()));
    this.#denied.set('nodes', nodeNetworksOf(this.#nodes.list()));
    this.#denied.set('pods', podNetworksOf(this.#nodes.list()));
    this.#denied.set('Services', serviceNetworksOf(this.#serviceCIDRs.list()));
  }

  #claim(type: ObjectChange<KubeObject>['type'], claim: HostClaim): void {
    const hosts = type === 'deleted' ? this.#claims.remove(claim) : this.#claims.put(claim);
    // The holder of the host name is reconciled because of its own event.
    this.#notify(hosts.map(topic.host), claim.kind === 'HostedControlPlane' ? claim.key : claim.owner);
  }

  #notify(topics: readonly string[], except?: string): void {
    for (const key of this.#subscriptions.of(topics)) if (key !== except) this.#handler(key);
  }
}
