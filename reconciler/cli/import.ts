import { isBareSnapshot } from '../../constructs/api/restore-spec.ts';
import { importAccess } from './import/access.ts';
import { gatherFacts } from './import/gather-facts.ts';
import { releaseVolumes } from './import/kept-volumes.ts';
import { describeImport } from './import/preview.ts';
import { problemsOf } from './import/problems.ts';
import { importContext, type ImportSource, takeSteps } from './import/run.ts';
import { spanText } from './format.ts';
import { clusterArgument, type Command, hasSwitch, type Session, textOption, UsageError } from './command.ts';
import { findControlPlane } from './control-plane.ts';
import { follow } from './follow.ts';
import { restoreProgress } from './restore-progress.ts';

/** Arguments of `hcp import`. */
export interface ImportRequest extends ImportSource {
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
  access: importAccess,
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
    `the volumes of the other provider are kept: run hcp import ${request.cluster} --delete-volumes --yes when the cluster works as it should`,
  );
}

async function deleteVolumes(session: Session, { cluster: name, isConfirmed }: ImportRequest): Promise<void> {
  const { cluster } = await findControlPlane(session, name);
  for (const line of await releaseVolumes(session, cluster, isConfirmed)) session.terminal.print(line);
}
