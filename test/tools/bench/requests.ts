import type { Instance } from '../testbed/instance.ts';
import { kubectl } from '../testbed/kubectl.ts';
import type { KubeClient } from '../../../reconciler/kube/client.ts';
import { providerNamespace } from '../../support/provider.ts';

/** Requests of the operator to the management API, as that API counted them. */
export interface RequestCounts {
  /** get, list. A watch counts when it is opened. */
  readonly reads: number;
  readonly writes: number;
  /** Of the Lease for leader election: one operator's, whatever the number of clusters. */
  readonly election: number;
}

const schemas = ['bench-election', 'bench-writes', 'bench-reads'] as const;

/**
 * Configures the API server to count the operator's requests separately: a FlowSchema per kind of request, whose
 * dispatched requests are a metric. They all stay in their default priority level.
 */
export async function countRequests(instance: Instance): Promise<void> {
  const account = `{kind: ServiceAccount, serviceAccount: {namespace: ${providerNamespace}, name: capi-hosted-control-plane-manager}}`;
  const schema = (name: string, precedence: number, verbs: string, groups: string, resources: string) => `
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: FlowSchema
metadata: {name: ${name}}
spec:
  priorityLevelConfiguration: {name: workload-high}
  matchingPrecedence: ${precedence}
  distinguisherMethod: {type: ByUser}
  rules:
    - subjects: [${account}]
      resourceRules: [{verbs: ${verbs}, apiGroups: ${groups}, resources: ${resources}, clusterScope: true, namespaces: ['*']}]
`;
  const manifests = [
    schema('bench-election', 100, "['*']", '[coordination.k8s.io]', '[leases]'),
    schema('bench-writes', 101, '[create, update, patch, delete, deletecollection]', "['*']", "['*']"),
    schema('bench-reads', 102, '[get, list, watch]', "['*']", "['*']"),
  ];
  await kubectl(instance, ['apply', '--server-side', '--force-conflicts', '--filename', '-'], manifests.join('---'));
}

/** Restores the API server's configuration. */
export async function forgetRequests(instance: Instance): Promise<void> {
  await kubectl(instance, ['delete', 'flowschema', ...schemas, '--ignore-not-found']);
}

/** The counts since the API server started. */
export async function requestCounts(client: KubeClient): Promise<RequestCounts> {
  const metrics = await client.raw('/metrics');
  const [election, writes, reads] = schemas.map((schema) => dispatched(metrics, schema));
  return { election: election ?? 0, writes: writes ?? 0, reads: reads ?? 0 };
}

function dispatched(metrics: string, schema: string): number {
  const lines = metrics.split('\n').filter((line) => {
    return (
      line.startsWith('apiserver_flowcontrol_dispatched_requests_total{') && line.includes(`flow_schema="${schema}"`)
    );
  });
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}

export function difference(after: RequestCounts, before: RequestCounts): RequestCounts {
  return {
    reads: after.reads - before.reads,
    writes: after.writes - before.writes,
    election: after.election - before.election,
  };
}
