import { z } from 'zod';
import { exposureOf } from './api/exposure-spec.ts';
import type { Problem } from './api/parse.ts';
import { parseHostedControlPlane } from './api/parse-manifest.ts';
import { Cluster, Gateway, HostedControlPlane, HostedControlPlaneComponentTemplate } from './api/resources.ts';
import { type HostedCluster, networkOf } from './cluster/cluster.ts';
import { definedOnly } from './cluster/defined-only.ts';
import { checkedConfiguration } from './control-plane/api-server/checked-configuration.ts';
import { exposureStrategy } from './control-plane/exposure/exposure.ts';
import type { ObservedGateway } from './control-plane/exposure/strategy.ts';
import type { Facts, ServiceAddress } from './cluster/facts.ts';
import { withComponentTemplate } from './pod/component-template.ts';
import { managerImage } from './provider/image.ts';
import { providerNamespace } from './cluster/provider-names.ts';

/** A cluster that can be rendered offline: the objects of a user, and facts that match them. */
export interface Sample {
  readonly cluster: HostedCluster;
  readonly facts: Facts;
  /** The Gateway that the cluster names and the objects do not have: one with a wildcard of example.com takes its place. */
  readonly exampleGateway?: string;
}

const Networks = z.looseObject({ cidrBlocks: z.array(z.string()).optional() });

/** The fields of a Cluster that a sample uses. */
const SampleCluster = z.looseObject({
  kind: z.literal(Cluster.kind),
  metadata: z.looseObject({ name: z.string(), namespace: z.string() }),
  spec: z.looseObject({
    clusterNetwork: z
      .looseObject({
        serviceDomain: z.string().optional(),
        services: Networks.optional(),
        pods: Networks.optional(),
      })
      .optional(),
  }),
});

/** The fields of a Gateway that a sample uses. Other fields of a listener are kept without validation. */
const SampleGateway = z.looseObject({
  kind: z.literal(Gateway.kind),
  metadata: z.looseObject({
    name: z.string(),
    namespace: z.string(),
    annotations: z.record(z.string(), z.string()).optional(),
  }),
  spec: z.looseObject({
    listeners: z.array(
      z.looseObject({
        name: z.string(),
        protocol: z.string(),
        port: z.number(),
        hostname: z.string().optional(),
        tls: z.looseObject({ mode: z.string().optional() }).optional(),
      }),
    ),
  }),
});

/**
 * Reads a Cluster, its HostedControlPlane, and the Gateway and the component template that it names.
 * @param objects the documents of a user's YAML file
 * @throws when one of them is missing or invalid.
 */
export function readSample(objects: readonly unknown[]): Sample {
  const find = (kind: string) => {
    const found = objects.find((object) => z.looseObject({ kind: z.literal(kind) }).safeParse(object).success);
    if (!found) throw new Error(`a Cluster and its HostedControlPlane are needed: add a ${kind}`);
    return found;
  };
  const found = SampleCluster.safeParse(find(Cluster.kind));
  if (!found.success) throw new Error(`Cluster: ${z.prettifyError(found.error).replaceAll(/\n\s*/g, ' ')}`);
  const { metadata, spec } = found.data;
  const own = parseHostedControlPlane(find(HostedControlPlane.kind));
  const parsed = own.valid
    ? withComponentTemplate(own.hostedControlPlane, (name) => templateAmong(objects, metadata.namespace, name))
    : own;
  if (!parsed.valid) throw new Error(`HostedControlPlane of cluster ${metadata.name}: ${onePerLine(parsed)}`);
  const cluster: HostedCluster = {
    name: metadata.name,
    namespace: metadata.namespace,
    network: networkOf(spec.clusterNetwork),
    spec: parsed.hostedControlPlane.spec,
  };
  const gateway = gatewayAmong(objects, cluster);
  const exposure = exposureOf(cluster.spec);
  if (exposure.kind !== 'gateway' || gateway) return { cluster, facts: sampleFacts(cluster, gateway) };
  const facts = sampleFacts(cluster, { spec: { listeners: [exampleListener] } });
  return { cluster, facts, exampleGateway: `${exposure.gateway.namespace}/${exposure.gateway.name}` };
}

/** Facts with which everything is rendered that a control plane may run: also what verifies and restores its backups. */
export function withRestores(facts: Facts): Facts {
  return { ...facts, etcdRestore: sampleRestore, etcdVerify: sampleVerification };
}

const exampleListener = {
  name: 'example',
  protocol: 'TLS',
  port: 443,
  hostname: '*.example.com',
  tls: { mode: 'Passthrough' },
  allowedRoutes: { namespaces: { from: 'All' } },
} as const;

function onePerLine(invalid: { readonly message: string; readonly problems?: readonly Problem[] }): string {
  const { message, problems = [] } = invalid;
  if (problems.length < 2) return message;
  return `${problems.length} problems\n${problems.map(({ path, message: text }) => `- ${path}: ${text}`).join('\n')}`;
}

/** The template of this name among the documents, whatever else it contains. */
function templateAmong(objects: readonly unknown[], namespace: string, name: string): unknown {
  const Named = z.looseObject({
    kind: z.literal(HostedControlPlaneComponentTemplate.kind),
    metadata: z.looseObject({ namespace: z.literal(namespace), name: z.literal(name) }),
  });
  return objects.find((object) => Named.safeParse(object).success);
}

/** The Gateway that the cluster names. */
function gatewayAmong(objects: readonly unknown[], { spec }: HostedCluster): ObservedGateway | undefined {
  const exposure = exposureOf(spec);
  if (exposure.kind !== 'gateway') return undefined;
  const { namespace, name } = exposure.gateway;
  return objects
    .flatMap((object) => SampleGateway.safeParse(object).data ?? [])
    .find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
}

/** `certificates` is empty, because a sample has no certificates. */
function sampleFacts(cluster: HostedCluster, gateway: ObservedGateway | undefined): Facts {
  const serviceAddress = sampleAddress(cluster);
  const preset = definedOnly(cluster.spec.controlPlaneEndpoint ?? {});
  const decision = exposureStrategy(cluster.spec).endpoint(
    cluster,
    { serviceAddress, gatewayServed: true, gateway, seesEveryClaim: true },
    preset,
  );
  if (!decision.known) throw new Error(`cluster ${cluster.name} has no endpoint: ${decision.message}`);
  const { known: _, ...decided } = decision;
  return {
    ...decided,
    ...(gateway ? { tlsRouteVersion: 'v1' } : {}),
    operatorNamespace: providerNamespace,
    serviceAddress,
    clusterCA: sampleCA,
    encryptionAtRest: cluster.spec.encryptionAtRest?.provider !== 'None',
    nodes: 3,
    ...(cluster.spec.etcd.restore ? { etcdRestore: sampleRestore } : {}),
    ...(cluster.spec.etcd.backup ? { etcdVerify: sampleVerification } : {}),
    ...(checkedConfiguration(cluster) ? { apiServerCheck: cluster.spec } : {}),
    certificates: {},
    mounts: {},
  };
}

/** The input of a verification. */
const sampleVerification = {
  run: '2026-11-21T11-15-31.123Z-4711',
  sizeBytes: 20_971_520,
  sha256: '0'.repeat(64),
  operatorImage: managerImage,
};

/** The input of a restore. */
const sampleRestore = { ...sampleVerification, run: '2026-11-21T12-00-00Z-5f0c1d2e', revisionBump: 59_702_400_000 };

/** A placeholder instead of a certificate, because a sample has no keys. */
const sampleCA = '-----BEGIN CERTIFICATE-----\nthe CA of the cluster\n-----END CERTIFICATE-----\n';

/** The address of a load balancer: a host name for AWS, otherwise an IP address reserved for documentation. */
function sampleAddress({ name, network, spec }: HostedCluster): ServiceAddress | undefined {
  if (exposureStrategy(spec).service.type !== 'LoadBalancer') return undefined;
  const exposure = exposureOf(spec);
  const { loadBalancerClass, loadBalancerIP } = exposure.kind === 'loadBalancer' ? exposure.loadBalancer : {};
  if (loadBalancerClass?.startsWith('service.k8s.aws/')) return { hostname: `${name}.elb.example.com` };
  return { ip: loadBalancerIP ?? (network.services[0]?.includes(':') ? '2001:db8::10' : '192.0.2.10') };
}
