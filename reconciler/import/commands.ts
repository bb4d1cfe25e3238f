import type {
  LeaseObject,
  PersistentVolumeObject,
  ValidatingWebhookConfigurationObject,
} from '../../imports/kubernetes.ts';
import { keptVolumeAnnotation, reclaimPolicyAnnotation } from '../../constructs/api/group.ts';
import { Cluster, Lease, PersistentVolume, Secret } from '../../constructs/api/resources.ts';
import { isBareSnapshot } from '../../constructs/api/restore-spec.ts';
import {
  type Command,
  type ParsedArguments,
  type Session,
  UsageError,
  clusterArgument,
  hasSwitch,
  textOption,
  cliFieldManager,
} from '../cli/command.ts';
import { findControlPlane } from '../cli/control-plane.ts';
import { follow } from '../cli/follow.ts';
import { spanText } from '../cli/format.ts';
import { restoreProgress } from '../cli/request-restore.ts';
import { importAccess, releaseAccess } from './access.ts';
import { describeImport } from './preview.ts';
import { type ImportFacts, problemsOf } from './problems.ts';
import { recordName } from './record.ts';
import { type ImportSource, importContext, takeSteps } from './run.ts';
import type { KubeClient } from '../kube/client.ts';
import { messageOf } from '../kube/error-message.ts';
import type { ClusterObject } from '../../imports/cluster-api.ts';
import { isForeign } from './observe-import.ts';
import type { ImportContext } from './import-context.ts';
import { readKeys } from './read-other.ts';
import { ValidatingWebhookConfiguration } from './resources.ts';

/** Arguments of `hcp-import cluster`. */
interface ImportRequest extends ImportSource {
  readonly isConfirmed: boolean;
}

/** Moves a control plane of another provider to this one. */
export const importControlPlane: Command = {
  name: 'cluster',
  examples: [
    ['cluster prod -n team-a', 'prints the plan, and what is in its way'],
    ['cluster prod -n team-a --yes', 'carries it out'],
  ],
  usage: 'CLUSTER [--snapshot NAME] [--issuer URL] [--yes]',
  summary:
    'Moves a control plane of teutonet, k0smotron or Kamaji to this provider; without --yes it prints the plan only.',
  options: {
    snapshot: {
      type: 'string',
      value: 'NAME',
      meaning: 'restore this snapshot in the bucket, such as final.etcd, instead of taking one',
    },
    issuer: {
      type: 'string',
      value: 'URL',
      meaning: 'issuer of service account tokens so far; read from the API server when unset',
    },
    yes: { type: 'boolean', short: 'y', meaning: 'carry it out; run it again if it is interrupted' },
  },
  access: importAccess,
  prepare(given) {
    const request = readImportRequest(given);
    return (session) => runImport(session, request);
  },
};

/** Deletes what an import has kept. */
export const deleteKeptVolumes: Command = {
  name: 'delete-volumes',
  examples: [['delete-volumes prod -n team-a', 'lists what is kept']],
  usage: 'CLUSTER [--yes]',
  summary:
    'Afterwards: deletes the kept volumes of the other provider and the record of its keys; without --yes it lists them.',
  options: { yes: { type: 'boolean', short: 'y', meaning: 'carry it out: there is no way back' } },
  access: releaseAccess,
  prepare(given) {
    const [name, isConfirmed] = [clusterArgument(given), hasSwitch(given, 'yes')];
    return async (session) => {
      const { cluster } = await findControlPlane(session, name);
      for (const line of await releaseVolumes(session, cluster, isConfirmed)) session.terminal.print(line);
    };
  },
};

/** @throws UsageError */
function readImportRequest(given: ParsedArguments): ImportRequest {
  const snapshot = textOption(given, 'snapshot');
  if (snapshot !== undefined && !isBareSnapshot(snapshot))
    throw new UsageError(
      `--snapshot must be the name of a file that ends in .etcd, such as final.etcd, not "${snapshot}"`,
    );
  return {
    cluster: clusterArgument(given),
    snapshot,
    issuer: textOption(given, 'issuer'),
    isConfirmed: hasSwitch(given, 'yes'),
  };
}

async function runImport(session: Session, request: ImportRequest): Promise<void> {
  const { terminal } = session;
  const context = await importContext(session, request);
  if (!context.record) {
    const facts = await gatherFacts(context);
    for (const line of describeImport(facts)) terminal.print(line);
    const problems = problemsOf(facts);
    if (problems.length > 0)
      throw new Error(`nothing was changed, because of ${problems.length} problems:\n- ${problems.join('\n- ')}`);
  }
  if (!request.isConfirmed) {
    const begun = context.record ? 'The import has begun, and continues' : 'Nothing was changed. The import begins';
    return terminal.print(`${begun} with --yes.`);
  }
  await takeSteps(session, request);

  const { controlPlane, record } = await importContext(session, request);
  const { generation = 0 } = controlPlane.object.metadata;
  const restored = await follow(session, controlPlane, (now) =>
    restoreProgress(now, { generation, previous: undefined }),
  );
  terminal.print(restored);
  const { completionTime } = (await findControlPlane(session, request.cluster)).object.status?.etcd?.restore ?? {};
  if (record?.stopped && completionTime !== undefined)
    terminal.print(`the API was unavailable for ${spanText(Date.parse(completionTime) - record.stopped.getTime())}`);
  terminal.print(
    `the volumes of the other provider are kept: run hcp-import delete-volumes ${request.cluster} -n ${session.namespace} --yes when the cluster works as it should`,
  );
}

interface VolumesContext {
  readonly client: Pick<KubeClient, 'list' | 'mergePatch' | 'delete'>;
  readonly namespace: string;
}

/** The volumes that an import has kept for a Cluster. */
async function keptVolumes({ client, namespace }: VolumesContext, cluster: string): Promise<PersistentVolumeObject[]> {
  const { items } = await client.list<PersistentVolumeObject>(PersistentVolume);
  return items.filter(({ metadata }) => metadata.annotations?.[keptVolumeAnnotation] === `${namespace}/${cluster}`);
}

/**
 * Gives the kept volumes their reclaim policies back, with which Kubernetes deletes most of them, and deletes the record
 * of the import.
 * @param isConfirmed whether to do it; otherwise nothing is changed
 * @returns what was done, or would be, as lines for the user
 */
async function releaseVolumes(context: VolumesContext, cluster: string, isConfirmed: boolean): Promise<string[]> {
  const { client, namespace } = context;
  const volumes = await keptVolumes(context, cluster);
  const lines: string[] = [];
  for (const { metadata } of volumes) {
    const policy = metadata.annotations?.[reclaimPolicyAnnotation] ?? 'Retain';
    lines.push(
      policy === 'Delete'
        ? `PersistentVolume ${metadata.name}: deleted with its data`
        : `PersistentVolume ${metadata.name}: its reclaim policy is ${policy}, so delete it and its data yourself`,
    );
    if (!isConfirmed) continue;
    const annotations = { [keptVolumeAnnotation]: null, [reclaimPolicyAnnotation]: null };
    const patch = { metadata: { annotations }, spec: { persistentVolumeReclaimPolicy: policy } };
    await client.mergePatch(PersistentVolume, { name: metadata.name }, patch, cliFieldManager);
  }
  lines.push(`Secret ${recordName(cluster)} with the keys of the other provider: deleted`);
  // Last: it shows that there is something to continue.
  if (isConfirmed) await client.delete(Secret, { namespace, name: recordName(cluster) });
  return isConfirmed ? lines : [...lines, 'Nothing was changed. Add --yes to carry it out: there is no way back.'];
}

/** The Lease of teutonet's operator, which is also that of this one, and the webhook that it installs. */
const lease = 'controlplane.cluster.x-k8s.io';
/** Programs of controller-runtime add a UUID to the name of their pod, the operator adds the id of its process. */
const otherHolder = /_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const teutonetsWebhook = 'vhostedcontrolplane.kb.io';

/** Gathers everything that a preview shows and that may prevent an import. Changes nothing. */
async function gatherFacts(context: ImportContext): Promise<ImportFacts> {
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
