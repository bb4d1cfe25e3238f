import { successorSecretName, namesOf } from '../../constructs/cluster/names.ts';
import { readCertificate } from '../pki/certificate.ts';
import { needsSuccessor } from './identity.ts';
import type { ImportFacts } from './problems.ts';
import { recordName } from './record.ts';
import type { ImportDecision } from './plan-import.ts';

/** What an import does, step by step, for a person who decides. */
export function describeImport(facts: ImportFacts): string[] {
  const { cluster, object, other, keys, snapshot } = facts;
  const { name, namespace } = object.metadata;
  const servers = other.servers.map((server) => server.name).join(', ');
  const steps = [
    `pauses HostedControlPlane ${name}, and records the CA, the key of service account tokens and their issuer in Secret ${recordName(cluster)}`,
    ...(other.etcd ? [`keeps the volumes of ${other.etcd.set.name} when their claims are deleted`] : []),
    `stops ${servers}: from here on the API is unavailable, and pods on workers continue to run`,
    snapshot === undefined
      ? 'stores a snapshot of etcd in the bucket, unencrypted, and reads it back'
      : `reads snapshot ${snapshot} in the bucket: what was written after it is lost`,
    ...(other.etcd ? [`stops ${other.etcd.set.name}`] : []),
    `deletes the objects of ${other.provider} that have names of the operator's`,
    `writes the Secrets of the CAs and of the key of tokens`,
    `ends the pause: the operator restores the snapshot and starts the control plane`,
    ...(keys instanceof Error ? [] : rotation(facts, keys)),
  ];
  return [
    `hcp-import moves Cluster ${namespace}/${cluster} from ${other.provider} to HostedControlPlane ${name}. It`,
    ...steps.map((step, index) => `${String(index + 1).padStart(3)}. ${step}`),
    '',
    'Carried over: the data, workers, the endpoint, the CA of the cluster, the key and the issuer of service account tokens.',
    'Not carried over:',
    ...other.notCarriedOver.map((sentence) => `  - ${sentence}`),
  ];
}

function rotation(
  { cluster, object: { spec }, now }: ImportFacts,
  keys: Exclude<ImportFacts['keys'], Error>,
): string[] {
  if (!needsSuccessor(keys, { spec, now })) return [];
  const { notAfter } = readCertificate(keys.ca.certificate);
  const next = successorSecretName(namesOf(cluster).secrets.clusterCA);
  return [
    `replaces the CA of the cluster, which expires on ${notAfter.toISOString()}, by ${next}: MachineDeployments are rolled out once. Replace nodes that belong to none before that time`,
  ];
}

/** A step in progress, for a line with the elapsed time. */
export function describeStep(step: ImportDecision): string {
  switch (step.kind) {
    case 'pause':
      return 'pausing the HostedControlPlane';
    case 'record':
      return 'recording the keys of the cluster';
    case 'keepVolumes':
      return `keeping the volumes ${step.volumes.join(', ')}`;
    case 'stopServers':
      return `stopping ${step.workloads.join(', ') || 'the API servers'}`;
    case 'awaitServers':
    case 'awaitEtcd':
      return `waiting for ${step.pods.join(', ')} to end`;
    case 'storeSnapshot':
      return 'storing and checking the final snapshot';
    case 'stopEtcd':
      return `stopping ${step.workloads.join(', ')}`;
    case 'removeLeftovers':
      return `deleting ${step.objects.length} objects of the other provider, such as ${step.objects[0]}`;
    case 'writeSecrets':
      return `writing ${step.secrets.join(', ')}`;
    case 'handOver':
      return 'handing the control plane to the operator';
    case 'follow':
      return 'waiting for the operator';
  }
}
