import type { Backup } from '../../../constructs/api/backup-spec.ts';
import { exposureOf } from '../../../constructs/api/exposure-spec.ts';
import {
  planCertificates,
  planEtcdCertificates,
} from '../../../constructs/control-plane/certificates/certificate-plans.ts';
import type { HostedCluster } from '../../../constructs/cluster/cluster.ts';
import { type RenderedObject, renderControlPlane } from '../../../constructs/control-plane/chart.ts';
import { renderWorkload } from '../../../constructs/workload/chart.ts';
import { openStore } from '../../../reconciler/backup/store/store-access.ts';
import { verificationRules } from '../../../reconciler/backup/verify/inventory.ts';
import { phases } from '../../../reconciler/reconcile/phases.ts';
import { restoreOf } from '../../../reconciler/backup/restore/request.ts';
import type { Work } from '../../../reconciler/engine/tasks/background-work.ts';
import type { MemoryObjects } from '../memory-objects.ts';
import { anyRestore, knownFacts } from '../rendered-cluster.ts';
import { scopeOf } from '../scope.ts';

/** Name of the Secret with a bucket in the specs given to {@link readFields}, and names of the keys in it. */
export const storeName = 's3';
export const storeKeys = {
  accessKeyIDKey: 'a',
  secretAccessKeyKey: 'b',
  hostKey: 'c',
  regionKey: 'd',
  bucketKey: 'e',
} as const;

/** Facts with which every part is rendered. */
const allFacts = {
  ...knownFacts,
  etcdRestore: anyRestore,
  etcdVerify: anyRestore,
  tunnelEndpoint: knownFacts.endpoint,
};

/** Endpoints that share an address with those of other clusters. */
const byHostName = {
  endpoint: { host: 'api.example.org', port: 443 },
  konnectivityEndpoint: { host: 'konnectivity.example.org', port: 443 },
  tunnelEndpoint: { host: 'tunnel.example.org', port: 443 },
};

/** Everything that is rendered for a cluster: for the management cluster, and for the hosted cluster. */
export function renderedObjects(cluster: HostedCluster): {
  readonly management: RenderedObject[];
  readonly hosted: RenderedObject[];
} {
  const { kind } = exposureOf(cluster.spec);
  const facts = kind === 'ingress' || kind === 'gateway' ? { ...allFacts, ...byHostName } : allFacts;
  return { management: renderControlPlane(cluster, facts), hosted: renderWorkload(cluster, facts) };
}

/** Everything that is rendered for a cluster, and the certificates it needs, as text to compare. */
export function renderingOf(cluster: HostedCluster): string {
  const { endpoint, konnectivityEndpoint } = knownFacts;
  return JSON.stringify([
    renderedObjects(cluster),
    planEtcdCertificates(cluster),
    planCertificates(cluster, endpoint, konnectivityEndpoint, endpoint),
  ]);
}

/**
 * The fields that all phases, and the steps of backups and restores, read by their names for this spec. What is only
 * written to text, such as a digest of all settings, does not count.
 */
export async function readFields(management: MemoryObjects, spec: object): Promise<Set<string>> {
  const reads = new Set<string>();
  // CAs are made only before that.
  const status = { initialization: { controlPlaneInitialized: management.objects.length > 0 } };
  const facts = { ...knownFacts, etcdRestore: anyRestore };
  const sharedResources = { servedVersions: () => ['v1'] };
  const scope = scopeOf(management, { spec, status, work: atOnce, facts, sharedResources });
  const { hostedControlPlane, cluster } = scope;
  const recorded = recording(hostedControlPlane.spec, [], reads);
  for (const phase of phases) {
    // A phase may refuse the spec, after it has read it.
    await phase
      .run({
        ...scope,
        hostedControlPlane: { ...hostedControlPlane, spec: recorded },
        cluster: { ...cluster, spec: recorded },
      })
      .catch(() => {});
  }
  if (recorded.etcd.backup) await readBackup(recorded.etcd.backup);
  if (recorded.etcd.restore) restoreOf(recorded.etcd.restore, { namespace: 'team', cluster: 'c1' });
  return reads;
}

/** What the work of backups reads before it needs a store. */
async function readBackup(backup: Backup): Promise<void> {
  const content = Buffer.from('content').toString('base64');
  const data = Object.fromEntries(Object.values(storeKeys).map((key) => [key, content]));
  const secret = async () => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's3' }, data });
  const { store } = await openStore({ namespace: 'team', owner: { namespace: 'team', cluster: 'c1' } }, backup, {
    secret: async ({ name }) => (name === storeName ? secret() : undefined),
    serviceAccountToken: async () => 'token',
  }).catch(() => ({ store: undefined }));
  store?.close();
  verificationRules(backup, 'team/c1');
}

/** Begins every piece of work, and aborts it. */
const atOnce: Work = {
  state: () => ({ kind: 'idle' }),
  start: (_name, _inputs, run) => {
    run({ signal: AbortSignal.abort(), report: () => {} }).catch(() => {});
    return { kind: 'idle' };
  },
  cancel: () => {},
};

function recording<T>(value: T, path: readonly string[], reads: Set<string>): T {
  if (typeof value !== 'object' || value === null) return value;
  return new Proxy(value, {
    get(target, key) {
      if (key === 'toJSON') return () => target;
      const child: unknown = Reflect.get(target, key);
      if (typeof key !== 'string' || !Object.hasOwn(target, key)) return child;
      const here = [...path, Array.isArray(target) ? '[]' : key];
      reads.add(here.join('.'));
      return recording(child, here, reads);
    },
  });
}
