import { Cluster } from '../../constructs/api/resources.ts';
import type { ClusterObject } from '../../imports/cluster-api.ts';
import { spanText } from '../cli/format.ts';
import type { Session } from '../cli/command.ts';
import { findLasting } from '../cli/control-plane.ts';
import { withBackups } from '../cli/store.ts';
import type { ImportContext } from './import-context.ts';
import { executeStep } from './execute-import.ts';
import { observeImport } from './observe-import.ts';
import { type ImportDecision, planImport } from './plan-import.ts';
import { describeStep } from './preview.ts';
import { findOther, providerOf } from './read-other.ts';
import { readRecord } from './record.ts';

/** What is imported. */
export interface ImportSource {
  /** Name of the Cluster or of its HostedControlPlane. */
  readonly cluster: string;
  /** A snapshot in the bucket, instead of one that is taken. */
  readonly snapshot: string | undefined;
  /** Issuer of service account tokens, instead of that of the API server. */
  readonly issuer: string | undefined;
}

/** How often a step is taken before another program must be the reason that it does not last. */
const longestStruggle = 3;
/** How long nothing may change while the import waits. */
const patienceMs = 5 * 60_000;

/** Takes the steps of an import, until the operator has the control plane. An interrupted import continues. */
export async function takeSteps(session: Session, source: ImportSource): Promise<void> {
  const { terminal, now, pause } = session;
  const begun = now();
  let last = '';
  let since = now();
  const taken = new Map<ImportDecision['kind'], number>();
  for (;;) {
    const context = await importContext(session, source);
    const step = planImport(await observeImport(context));
    const line = describeStep(step);
    if (line !== last) {
      terminal.info(`${spanText(now() - begun)}  ${line}`);
      [last, since] = [line, now()];
    }
    if (step.kind === 'follow') return;
    const times = (taken.get(step.kind) ?? 0) + 1;
    taken.set(step.kind, times);
    if (!mustWait(step) && times > longestStruggle)
      throw new Error(
        `another program undoes ${line}, which was done ${longestStruggle} times: stop that program, such as the operator of ${context.other.provider}, and run the command again`,
      );
    if (now() - since > patienceMs)
      throw new Error(
        `nothing has changed for ${spanText(patienceMs)} while ${line}: check these objects, and run the command again`,
      );
    await executeStep(context, step);
    if (mustWait(step)) await pause(500);
  }
}

function mustWait({ kind }: ImportDecision): boolean {
  return kind === 'awaitServers' || kind === 'awaitEtcd' || kind === 'removeLeftovers';
}

/** Reads everything that a step needs, again for each step. */
export async function importContext(session: Session, source: ImportSource): Promise<ImportContext> {
  const { client, namespace, forward, now } = session;
  const controlPlane = await findLasting(session, source.cluster);
  const { cluster } = controlPlane;
  const record = await readRecord(client, { namespace, cluster });
  const reference = (await client.find<ClusterObject>(Cluster, { namespace, name: cluster }))?.spec?.controlPlaneRef;
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
    snapshot: source.snapshot,
    issuer: source.issuer,
    withBackups: (use) => withBackups(session, controlPlane, undefined, use),
  };
}
