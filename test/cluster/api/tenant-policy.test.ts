import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HostedControlPlaneSpec } from '../../../constructs/api/hosted-control-plane.ts';
import { structural } from '../../../constructs/api/structural.ts';
import { admits, defaultPlatformLists } from '../../../constructs/cluster/platform-lists.ts';
import { renderTenants } from '../../../constructs/provider/tenants.ts';
import { settleAll } from '../../../reconciler/kube/concurrency.ts';
import { type Field, fieldsOf, pathOf, withField } from '../../support/spec-fields/fields.ts';
import { valuesOf } from '../../support/spec-fields/samples.ts';
import { answered, hostedControlPlane, type InstalledApi, planes, startInstalledApi } from './installed-api.ts';
import type { Answer } from './requests.ts';

let installed: InstalledApi;

beforeAll(async () => {
  installed = await startInstalledApi();
  const policies = '/apis/admissionregistration.k8s.io/v1';
  for (const object of renderTenants().filter(({ kind }) => kind.startsWith('ValidatingAdmissionPolicy'))) {
    const plural = object.kind.endsWith('Binding')
      ? 'validatingadmissionpolicybindings'
      : 'validatingadmissionpolicies';
    await answered(201, () => installed.requests.send(`${policies}/${plural}`, { method: 'POST', content: object }));
  }
  const image = { registry: 'registry.tenant.example' };
  await answered(422, () => tried({ version, exposure: { loadBalancer: {} }, etcd: { image } }));
});
afterAll(() => installed?.stop());

const tried = (spec: unknown): Promise<Answer> =>
  installed.requests.send(`${planes}?dryRun=All`, { method: 'POST', content: hostedControlPlane(spec) });

const version = 'v1.36.3';
const below = 'c1.default.clusters.example.org';
const hosts = { apiHost: `api.${below}`, konnectivityHost: `k.${below}` };
const scenes: readonly object[] = [
  { version, exposure: { loadBalancer: {} } },
  { version, exposure: { ingress: { ...hosts, tunnelHost: `t.${below}` } } },
  { version, exposure: { nodePort: { address: '192.0.2.10', port: 30443, konnectivityPort: 30132 } } },
  { version, exposure: { gateway: { name: 'capi', namespace: 'capi-system' } } },
  { version, gateway: { name: 'capi', namespace: 'capi-system' } },
  {
    version,
    exposure: { loadBalancer: {} },
    deployment: { apiServer: { mounts: { extra: { path: '/extra', configMap: { name: 'a' } } } } },
  },
];

/** Texts that are not one of a few, by name. */
const texts = fieldsOf(structural(HostedControlPlaneSpec)).filter(
  ({ schema }) => (schema.type === 'string' || schema['x-kubernetes-int-or-string']) && !schema.enum,
);

/** What the policy lets through, by the beginning or the end of the name, and why that harms no other tenant. */
const letThrough: readonly (readonly [RegExp, string])[] = [
  [/^machineTemplate\./, 'ignored by the operator'],
  [/^(version|etcd\.version)$/, 'a release of a component, whose image comes from the registry of the platform'],
  [/image\.(tag|digest)$/, 'an image in the registry of the platform'],
  [/imagePullSecrets\.\[\]\.name$/, 'a Secret of the namespace, which only the kubelet uses for a pull'],
  [/\.args\.\*$/, 'flags of programs of the own control plane, which run as a restricted pod'],
  [/\.env\.\[\]\.(name|value)$/, 'variables of these programs; a value comes from no object'],
  [/(resources|limits|requests)\.[a-z.]*\*$/, 'within the quota of the namespace'],
  [
    /(nodeSelector|affinity|tolerations|topologySpreadConstraints)\b/,
    'which nodes: PodTolerationRestriction limits it',
  ],
  [/^(coredns|kubeProxy|konnectivityClient|proxy)\./, 'in the hosted cluster, where the tenant may do everything'],
  [/\.mounts\.\*\.(path|configMap\.items\.\[\]\.(key|path))$/, 'in its own pod, by rules of the CRD'],
  [/\.mounts\.\*\.configMap\.name$/, 'a ConfigMap of the namespace'],
  [/\.audit\./, 'records of the own API server; a Secret names who may send its token'],
  [/^oidcProviders\./, 'who may sign in to the own cluster'],
  [/^serviceAccountIssuer\./, 'names in tokens of the own cluster'],
  [/^kubeconfigs\./, 'who may use the own cluster; the CRD refuses names of Kubernetes'],
  [/^certificates\./, 'lifetimes, and an issuer, whose rights are those of cert-manager'],
  [/^apiServer\.certSANs/, 'names in a certificate that only the own CA signs'],
  [/^controlPlaneEndpoint\.host$/, 'the operator keeps who holds a host'],
  [/^(exposure\.)?gateway\./, 'the owner of the Gateway admits hosts and namespaces'],
  [
    /^exposure\.loadBalancer\.(loadBalancerIP|loadBalancerSourceRanges\.\[\])$/,
    'the load balancer decides who gets an address',
  ],
  [/^exposure\.nodePort\.address$/, 'published to the own workers only'],
  [/^etcd\.(backup|restore)\./, 'a store that is opened with own keys, where the operator may connect'],
  [/^etcd\.(volumeSize|maxVolumeSize|storageClassName)$/, 'within the quota of the namespace'],
  [/^etcd\.recovery\./, 'a backup of the own folder'],
  [/^(maintenance|rollout|upgrade)\./, 'when something happens'],
  [/^componentTemplateRef\.name$/, 'the policy is for templates, too'],
  [/^metricsScrapers\./, 'who reads the metrics of the own control plane'],
  [/^readinessGates\./, 'conditions of the own object'],
  [/\.?rotation\b/, 'only that it changes matters'],
  [/priorityClassName$/, 'those of the platform begin with system-, and are refused'],
];

/** Which of the texts the policy refuses. */
const refusedFor: readonly RegExp[] = [
  /^imageRegistry$/,
  /image\.(registry|repository)$/,
  /^exposure\.ingress\.(apiHost|konnectivityHost|tunnelHost|className|annotations\.\*)$/,
  /^exposure\.loadBalancer\.(loadBalancerClass|annotations\.\*)$/,
  /\.mounts\.\*\.secret\./,
  /^etcd\.backup\.secret\.\w+Key$/,
  /^(deployment|etcd)\.(.*\.)?(labels|annotations)\.\*$/,
  /^(deployment|etcd)\.(.*\.)?priorityClassName$/,
];

/** The CRD accepts them only beside other fields; fields that mean the same are tried. */
const onlyBesideOthers: readonly RegExp[] = [
  /\.(tolerations|affinity)\./,
  /\.resources\.claims\./,
  /^etcd\.(volumeSize|restore\..*)$/,
  /^kubeconfigs\.\[\]\.lifetime$/,
  /^maintenance\.window\.(start|duration)$/,
  /^upgrade\.hold$/,
];

type Outcome = 'through' | 'refused' | 'invalid';

/** Whether some object that the CRD accepts passes with a value of the field. */
async function outcomeOf(field: Field): Promise<Outcome> {
  let outcome: Outcome = 'invalid';
  for (const value of valuesOf(field.schema, pathOf(field).join('.'))) {
    for (const scene of scenes) {
      const { code, body } = await tried(withField(scene, field, value));
      if (code === 201) return 'through';
      if (String(body['message']).includes('ValidatingAdmissionPolicy')) outcome = 'refused';
    }
  }
  return outcome;
}

describe('of the texts that a tenant writes', () => {
  const outcomes = new Map<string, Outcome>();
  beforeAll(async () => {
    await settleAll(texts, 8, async (field) => void outcomes.set(field.name, await outcomeOf(field)));
  }, 240_000);
  const namesOf = (outcome: Outcome) => texts.map(({ name }) => name).filter((name) => outcomes.get(name) === outcome);

  it('the sample policy lets through those that are listed here, each for a reason', () => {
    expect(texts.length).toBeGreaterThan(150);
    expect(namesOf('through').filter((name) => !letThrough.some(([place]) => place.test(name)))).toEqual([]);
    expect(letThrough.filter(([place]) => !namesOf('through').some((name) => place.test(name)))).toEqual([]);
  });

  it('the sample policy refuses those by which others are reached', () => {
    const expected = texts.map(({ name }) => name).filter((name) => refusedFor.some((place) => place.test(name)));
    expect(
      namesOf('through').filter((name) => expected.includes(name) && !/^coredns|^kubeProxy|^konn|^proxy/.test(name)),
    ).toEqual([]);
    expect(namesOf('refused').filter((name) => !expected.includes(name))).toEqual([]);
  });

  it('all are tried', () => {
    expect(namesOf('invalid').filter((name) => !onlyBesideOthers.some((place) => place.test(name)))).toEqual([]);
  });
});

describe('annotations of the way in', () => {
  const keys = [
    'nginx.ingress.kubernetes.io/ssl-passthrough',
    'nginx.ingress.kubernetes.io/server-snippet',
    'external-dns.alpha.kubernetes.io/hostname',
    'external-dns.alpha.kubernetes.io/ttl',
    'service.beta.kubernetes.io/aws-load-balancer-scheme',
    'service.beta.kubernetes.io/aws-load-balancer-Name',
    'load-balancer.hetzner.cloud/location',
    'load-balancer.hetzner.cloud/name',
    'metallb.universe.tf/allow-shared-ip',
    'loadbalancer.openstack.org/load-balancer-id',
  ];

  it.each(keys)('pass the policy as they pass the operator: %s', async (key) => {
    const annotations = { [key]: 'a' };
    const balanced = await tried({ version, exposure: { loadBalancer: { annotations } } });
    expect(balanced.code === 201).toBe(admits(defaultPlatformLists.loadBalancerAnnotations, key));
    const routed = await tried({ version, exposure: { ingress: { ...hosts, annotations } } });
    const isPassthrough = key.endsWith('/ssl-passthrough');
    expect(routed.code === 201).toBe(isPassthrough || admits(defaultPlatformLists.ingressAnnotations, key));
  });

  it('name a class that the platform lists', async () => {
    const annotated = (name: string) => ({ ...hosts, annotations: { 'kubernetes.io/ingress.class': name } });
    const codes = await Promise.all(
      [{ ...hosts, className: 'nginx' }, annotated('nginx'), { ...hosts, className: 'admin' }, annotated('admin')].map(
        async (ingress) => (await tried({ version, exposure: { ingress } })).code,
      ),
    );
    expect(codes).toEqual([201, 201, 422, 422]);
  });
});
