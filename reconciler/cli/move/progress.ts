import { blockMoveAnnotation } from '../../../constructs/api/group.ts';
import { isPrepared, moveRecordOf } from '../../run-state/move-record.ts';
import type { ControlPlane } from '../control-plane.ts';
import type { Progress } from '../follow.ts';

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

function describePrepared({ spec }: ControlPlane['object'], cluster: string, backup: string): string {
  const { host } = spec.controlPlaneEndpoint ?? {};
  return [
    `${cluster} is prepared: its API servers are stopped, and backup ${backup} holds all data. Now run clusterctl move.`,
    'The operator of the other management cluster restores exactly this backup. The workers keep their endpoint:',
    `lead ${host || 'it'} to that management cluster, by DNS or by the address of its Gateway or load balancer.`,
    `To serve here again instead, run hcp move abort ${cluster}.`,
  ].join('\n');
}
