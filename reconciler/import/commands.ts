import { isBareSnapshot } from '../../constructs/api/restore-spec.ts';
import { importAccess, releaseAccess } from './access.ts';
import { gatherFacts } from './gather-facts.ts';
import { releaseVolumes } from './kept-volumes.ts';
import { describeImport } from './preview.ts';
import { problemsOf } from './problems.ts';
import { importContext, type ImportSource, takeSteps } from './run.ts';
import { spanText } from '../cli/format.ts';
import {
  clusterArgument,
  type Command,
  type Given,
  hasSwitch,
  type Program,
  type Session,
  textOption,
  UsageError,
} from '../cli/command.ts';
import { completionOf } from '../cli/completion.ts';
import { findControlPlane } from '../cli/control-plane.ts';
import { follow } from '../cli/follow.ts';
import { restoreProgress } from '../cli/restore-progress.ts';

/** Arguments of `hcp-import cluster`. */
export interface ImportRequest extends ImportSource {
  readonly isConfirmed: boolean;
}

/** Moves a control plane of another provider to this one. */
export const importControlPlane: Command = {
  name: 'cluster',
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

/** A program of its own, because a platform needs it once: `reconciler/cli` does not know it. */
export const hcpImport: Program = {
  name: 'hcp-import',
  summary: 'Moves control planes of other providers to this one.',
  commands: [importControlPlane, deleteKeptVolumes, completionOf(() => hcpImport)],
};

/** @throws UsageError */
function readImportRequest(given: Given): ImportRequest {
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
    `the volumes of the other provider are kept: run hcp-import delete-volumes ${request.cluster} --yes when the cluster works as it should`,
  );
}
