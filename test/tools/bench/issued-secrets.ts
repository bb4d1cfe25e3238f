import { clusterNameLabel } from '../../../constructs/api/group.ts';
import { Secret } from '../../../constructs/api/resources.ts';
import type { RenderedObject } from '../../../constructs/control-plane/chart.ts';
import type { HostedCluster } from '../../../constructs/cluster/cluster.ts';
import type { Endpoint, Facts } from '../../../constructs/cluster/facts.ts';
import { namesOf } from '../../../constructs/cluster/names.ts';
import { mergeFacts } from '../../../reconciler/engine/run-phases.ts';
import { caCertificates } from '../../../reconciler/phases/ca-certificates.ts';
import { certificates, etcdCertificates } from '../../../reconciler/phases/certificates.ts';
import { encryptionAtRest } from '../../../reconciler/phases/encryption-at-rest.ts';
import { kubeconfig } from '../../../reconciler/phases/kubeconfig.ts';
import { type SecretObject, valueOf } from '../../../reconciler/pki/secret.ts';
import { MemoryObjects } from '../../support/memory-objects.ts';
import { scopeOf } from '../../support/scope.ts';

/** The phases that create Secrets, each after those whose Secrets it reads. */
const phases = [caCertificates, etcdCertificates, certificates, encryptionAtRest, kubeconfig] as const;

/** The Secrets of a control plane without an operator. */
export interface IssuedSecrets {
  /** Without an owner: there is no HostedControlPlane. */
  readonly objects: readonly RenderedObject[];
  /** The facts about them that a render needs. */
  readonly facts: Facts;
  /** Of the hosted cluster's administrator. */
  readonly kubeconfig: string;
}

/** Runs the operator's own phases in memory to create every Secret that pods of this cluster mount. */
export async function issueSecrets(cluster: HostedCluster, endpoint: Endpoint): Promise<IssuedSecrets> {
  const management = new MemoryObjects();
  const scope = { ...scopeOf(management, { now: new Date() }), cluster };
  let facts = mergeFacts([scope.facts, { endpoint, konnectivityEndpoint: endpoint }]);
  for (const phase of phases) {
    const outcome = await phase.run({ ...scope, facts });
    if (outcome.kind !== 'done') throw new Error(`${phase.condition}: ${outcome.message}`);
    facts = mergeFacts([facts, outcome.facts]);
  }
  const secrets = management.list<SecretObject>(Secret, { [clusterNameLabel]: cluster.name });
  const { secrets: names } = namesOf(cluster.name);
  const administrator = secrets.find(({ metadata }) => metadata.name === names.kubeconfig);
  return {
    objects: secrets.map((secret) => ownerless(secret, cluster.namespace)),
    facts: { ...facts, owner: undefined },
    kubeconfig: valueOf(administrator, 'value') ?? '',
  };
}

function ownerless(secret: SecretObject, namespace: string): RenderedObject {
  const { apiVersion, kind, type, data } = secret;
  const { name, labels } = secret.metadata;
  return { apiVersion, kind, metadata: { name, namespace, ...(labels ? { labels } : {}) }, type, data };
}
