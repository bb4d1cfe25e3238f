import { blockMoveAnnotation, prepareMoveAnnotation } from '../../constructs/api/group.ts';
import { changingControlPlane, findingControlPlane, followingControlPlane } from './access.ts';
import { type Command, type ParsedArguments, type Session, UsageError, hasSwitch } from './command.ts';
import { askingForPause, changeControlPlane, type ControlPlane, findAttended } from './control-plane.ts';
import { printRequested, type Progress } from './follow.ts';
import { nextCommand } from './format.ts';
import { describeObjects, takeAlong, takingAlong } from './move/users-objects.ts';
import { isPrepared, moveRecordOf } from '../run-state/move-record.ts';

/** Arguments of `hcp move`. */
interface MoveRequest {
  readonly step: 'prepare' | 'abort';
  readonly cluster: string;
  readonly wait: boolean;
}

/** Prepares a move by `clusterctl`, with the annotation that users can also set, or takes it back. */
export const move: Command = {
  name: 'move',
  examples: [
    ['move prepare prod -n team-a --wait', 'before clusterctl move'],
    ['move abort prod -n team-a', 'serve here again instead'],
  ],
  usage: 'prepare|abort CLUSTER [--wait]',
  summary: 'Stops a control plane and keeps its data for clusterctl move, or lets it serve again.',
  options: { wait: { type: 'boolean', meaning: 'wait until clusterctl move can begin, or the API servers run again' } },
  access: [
    findingControlPlane,
    followingControlPlane('--wait'),
    changingControlPlane('requesting the preparation, and taking it back'),
    askingForPause,
    ...takingAlong,
  ],
  prepare(given) {
    const request = readMoveRequest(given);
    return (session) => (request.step === 'prepare' ? prepareMove(session, request) : abortMove(session, request));
  },
};

/** @throws UsageError */
export function readMoveRequest(given: ParsedArguments): MoveRequest {
  const [step, cluster, ...more] = given.positionals;
  if (step !== 'prepare' && step !== 'abort')
    throw new UsageError(`say what to do: hcp move prepare CLUSTER, or hcp move abort CLUSTER`);
  if (cluster === undefined || more.length > 0)
    throw new UsageError(`hcp move ${step} takes the name of one Cluster, not ${given.positionals.length - 1}`);
  return { step, cluster, wait: hasSwitch(given, 'wait') };
}

async function prepareMove(session: Session, { cluster: name, wait }: MoveRequest): Promise<void> {
  const controlPlane = await findAttended(session, name);
  const { cluster, object } = controlPlane;
  if (!object.spec.etcd.backup)
    throw new Error(
      `HostedControlPlane ${object.metadata.name} has no backups, and its data travel in one: set spec.etcd.backup with a bucket that both management clusters reach`,
    );
  for (const line of describeObjects(await takeAlong(session, controlPlane))) session.terminal.info(line);
  await annotate(session, controlPlane, new Date(session.now()).toISOString());
  const said = `preparation of a move of ${cluster} requested`;
  await printRequested(session, controlPlane, { said, wait, look: prepareProgress });
}

async function abortMove(session: Session, { cluster: name, wait }: MoveRequest): Promise<void> {
  const controlPlane = await findAttended(session, name);
  const { metadata } = controlPlane.object;
  const isRequested = metadata.annotations?.[prepareMoveAnnotation] !== undefined;
  if (!isRequested && conditionOf(controlPlane.object)?.status !== 'False')
    throw new Error(`no move of ${controlPlane.cluster} is requested or under way: nothing was changed`);
  await annotate(session, controlPlane, null);
  const said = `${controlPlane.cluster} serves here again soon`;
  await printRequested(session, controlPlane, { said, wait, look: abortProgress });
}

async function annotate(session: Session, { object }: ControlPlane, value: string | null): Promise<void> {
  await changeControlPlane(session, object, { metadata: { annotations: { [prepareMoveAnnotation]: value } } });
}

/** The progress of a requested preparation. */
export function prepareProgress({ cluster, object }: ControlPlane): Progress {
  const { metadata } = object;
  if (isPrepared(metadata) && metadata.annotations?.[blockMoveAnnotation] === undefined) {
    const { backup } = moveRecordOf(metadata) ?? {};
    return { kind: 'done', message: describePrepared(object, cluster, backup ?? '') };
  }
  const condition = conditionOf(object);
  if (condition?.reason === 'MoveRefused') return { kind: 'failed', message: condition.message };
  return { kind: 'running', message: condition?.status === 'False' ? stepOf(condition) : 'waiting for the operator' };
}

/** The progress until the API servers run again. */
export function abortProgress({ cluster, object }: ControlPlane): Progress {
  const condition = conditionOf(object);
  if (condition?.reason === 'MovedAway') return { kind: 'failed', message: condition.message };
  if (condition?.status === 'False') return { kind: 'running', message: stepOf(condition) };
  const available = object.status?.conditions?.find(({ type }) => type === 'Available');
  if (available?.status === 'True') return { kind: 'done', message: `${cluster} serves here again` };
  return { kind: 'running', message: available?.message || 'waiting for the API servers' };
}

type Conditioned = Pick<ControlPlane['object'], 'status'>;

function conditionOf({ status }: Conditioned) {
  return status?.conditions?.find(({ type }) => type === 'NoMovePending');
}

/** Without the advice to abort, which a terminal needs not repeat with every step. */
function stepOf({ reason, message }: { readonly reason: string; readonly message: string }): string {
  return `${reason}: ${message.split('; to serve here again')[0]}`;
}

function describePrepared({ metadata, spec }: ControlPlane['object'], cluster: string, backup: string): string {
  const { host } = spec.controlPlaneEndpoint ?? {};
  return [
    `${cluster} is prepared: its API servers are stopped, and backup ${backup} holds all data. Now run clusterctl move.`,
    'The operator of the other management cluster restores exactly this backup. The workers keep their endpoint:',
    `lead ${host || 'it'} to that management cluster, by DNS or by the address of its Gateway or load balancer.`,
    `To serve here again instead, run ${nextCommand('move abort', cluster, metadata.namespace)}.`,
  ].join('\n');
}
