import type { LeaseObject, ValidatingWebhookConfigurationObject } from '../../imports/kubernetes.ts';
import { Cluster, Lease } from '../../constructs/api/resources.ts';
import { messageOf } from '../kube/error-message.ts';
import type { ClusterObject } from '../../imports/cluster-api.ts';
import { isForeign } from './observe-import.ts';
import type { ImportContext } from './import-context.ts';
import type { ImportFacts } from './problems.ts';
import { readKeys } from './read-other.ts';
import { ValidatingWebhookConfiguration } from './resources.ts';

/** The Lease of teutonet's operator, which is also that of this one, and the webhook that it installs. */
const lease = 'controlplane.cluster.x-k8s.io';
/** Programs of controller-runtime add a UUID to the name of their pod, the operator adds the id of its process. */
const otherHolder = /_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const teutonetsWebhook = 'vhostedcontrolplane.kb.io';

/** Gathers everything that a preview shows and that may prevent an import. Changes nothing. */
export async function gatherFacts(context: ImportContext): Promise<ImportFacts> {
  const { client, namespace, controlPlane, other, snapshot, issuer, now } = context;
  const { cluster, object } = controlPlane;
  const workloads = await Promise.all(
    other.servers.map(async ({ resource, name }) => {
      const found = await client.find(resource, { namespace, name });
      return found && isForeign(found) ? [name] : [];
    }),
  );
  const keys = await readKeys(context, other, issuer).catch((error: unknown) => new Error(messageOf(error)));
  const clusterObject = await client.find<ClusterObject>(Cluster, { namespace, name: cluster });
  const { paused = false, controlPlaneEndpoint: endpoint } = clusterObject?.spec ?? {};
  return {
    cluster,
    object,
    other,
    workloads: workloads.flat(),
    keys,
    isClusterPaused: paused,
    hasEndpoint: Boolean(endpoint?.host && endpoint.port),
    heldLeases: await heldLeases(context),
    webhooks: await webhooks(context),
    storeProblem: await storeProblem(context),
    snapshot,
    now: new Date(now()),
  };
}

/** Other operators are found by what they do: they start again what was stopped. */
async function heldLeases({ client, now }: ImportContext): Promise<string[]> {
  const { items } = await client.list<LeaseObject>(Lease, { fieldSelector: `metadata.name=${lease}` });
  return items
    .filter(({ spec }) => {
      const expiry = Date.parse(spec?.renewTime ?? '') + (spec?.leaseDurationSeconds ?? 0) * 1000;
      return otherHolder.test(spec?.holderIdentity ?? '') && expiry > now();
    })
    .map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
}

async function webhooks({ client }: ImportContext): Promise<string[]> {
  const { items } = await client.list<ValidatingWebhookConfigurationObject>(ValidatingWebhookConfiguration);
  const isTheirs = ({ webhooks: all = [] }: ValidatingWebhookConfigurationObject) =>
    all.some(({ name }) => name === teutonetsWebhook);
  return items.filter(isTheirs).map(({ metadata }) => metadata.name);
}

async function storeProblem({ withBackups, snapshot }: ImportContext): Promise<string | undefined> {
  try {
    const { bareSnapshots } = await withBackups((backups) => backups.list());
    if (snapshot === undefined || bareSnapshots.includes(snapshot)) return undefined;
    return `the bucket has no snapshot ${snapshot}: it has ${bareSnapshots.join(', ') || 'none'}`;
  } catch (error) {
    return messageOf(error);
  }
}
