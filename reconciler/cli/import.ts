import { isBareSnapshot } from '../../constructs/api/restore-spec.ts';
import { Cluster } from '../../constructs/api/resources.ts';
import { executeStep, type ImportContext } from './import/execute.ts';
import { gatherFacts } from './import/gather-facts.ts';
import { releaseVolumes } from './import/kept-volumes.ts';
import { observeImport } from './import/observe.ts';
import { type ImportStep, planImport } from './import/plan.ts';
import { describeImport, describeStep } from './import/preview.ts';
import { problemsOf } from './import/problems.ts';
import { findOther, providerOf } from './import/read-other.ts';
import { readRecord } from './import/record.ts';
import type { KubeObject } from '../kube/object.ts';
import type { ClusterObject } from '../management/cluster-object.ts';
import { spanText } from './amounts.ts';
import { clusterArgument, type Command, hasSwitch, type Session, textOption, UsageError } from './command.ts';
import { findControlPlane, refuseDeleting } from './control-plane.ts';
import { follow } from './follow.ts';
import { restoreProgress } from './restore-progress.ts';
import { withBackups } from './store.ts';

/** Arguments of `hcp import`. */
export interface ImportRequest {
  readonly cluster: string;
  readonly snapshot: string | undefined;
  readonly issuer: string | undefined;
  readonly isConfirmed: boolean;
  readonly deletesVolumes: boolean;
}

/** Moves a control plane of another provider to this one. */
export const importControlPlane: Command = {
  name: 'import',
  usage: 'CLUSTER [--snapshot NAME] [--issuer URL] [--yes] | --delete-volumes --yes',
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
    'delete-volumes': {
      type: 'boolean',
      meaning: 'afterwards: delete the kept volumes of the other provider, and the record of its keys',
    },
  },
  prepare(given) {
    const request = readImportRequest(given);
    return (session) => (request.deletesVolumes ? deleteVolumes(session, request) : runImport(session, request));
  },
};

/** @throws UsageError */
export function readImportRequest(given: Parameters<Command['prepare']>[0]): ImportRequest {
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
    deletesVolumes: hasSwitch(given, 'delete-volumes'),
  };
}

async function runImport(session: Session, request: ImportRequest): Promise<void> {
  const { terminal } = session;
  const begun = session.now();
  const context = await importContext(session, request);
  if (!context.record) {
    const facts = await gatherFacts(context);
    for (const line of describeImport(facts)) terminal.print(line);
    const problems = problemsOf(facts);
    if (problems.length > 0)
      throw new Error(`nothing was changed, because of ${problems.length} problems:\n- ${problems.join('\n- ')}`);
  }
  if (!request.isConfirmed) return terminal.print('Nothing was changed. Add --yes to carry it out.');
  await takeSteps(session, request, begun);

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
    `the volumes of the other provider are kept: run hcp import ${request.cluster} --delete-volumes --yes when the cluster works as it should`,
  );
}

/** How often the same workloads are stopped before another program must be the reason. */
const longestStruggle = 3;
/** How long nothing may change while the import waits. */
const patienceMs = 5 * 60_000;

async function takeSteps(session: Session, request: ImportRequest, begun: number): Promise<void> {
  const { terminal, now, pause } = session;
  let last = '';
  let since = now();
  let stops = 0;
  for (;;) {
    const context = await importContext(session, request);
    const step = planImport(await observeImport(context, context.controlPlane.object, context.record));
    const line = describeStep(step);
    if (line !== last) {
      terminal.tell(`${spanText(now() - begun)}  ${line}`);
      [last, since] = [line, now()];
    }
    if (step.kind === 'follow') return;
    if (step.kind === 'stopServers' && ++stops > longestStruggle)
      throw new Error(
        `another program starts ${step.workloads.join(', ')} again: stop the operator of ${context.other.provider}, and run the command again`,
      );
    if (now() - since > patienceMs)
      throw new Error(
        `nothing has changed for ${spanText(patienceMs)} while ${line}: check these objects, and run the command again`,
      );
    await executeStep(context, step);
    if (mustWait(step)) await pause(500);
  }
}

function mustWait({ kind }: ImportStep): boolean {
  return kind === 'awaitServers' || kind === 'awaitEtcd' || kind === 'removeLeftovers';
}

async function importContext(session: Session, request: ImportRequest): Promise<ImportContext> {
  const { client, namespace, forward, now } = session;
  const controlPlane = await findControlPlane(session, request.cluster);
  refuseDeleting(controlPlane);
  const { cluster } = controlPlane;
  const record = await readRecord(client, { namespace, cluster });
  const reference = (await client.find<ClusterObject & KubeObject>(Cluster, { namespace, name: cluster }))?.spec
    ?.controlPlaneRef;
  const provider = record?.provider ?? providerOf(reference?.kind);
  const name = record?.name ?? reference?.name ?? cluster;
  const other = await findOther({ client, namespace }, provider, { cluster, name });
  return {
    client,
    namespace,
    cluster,
    controlPlane,
    other,
    record,
    forward,
    now,
    snapshot: request.snapshot,
    issuer: request.issuer,
    withBackups: (use) => withBackups(session, controlPlane, undefined, use),
  };
}

async function deleteVolumes(session: Session, { cluster: name, isConfirmed }: ImportRequest): Promise<void> {
  const { cluster } = await findControlPlane(session, name);
  for (const line of await releaseVolumes(session, cluster, isConfirmed)) session.terminal.print(line);
}
