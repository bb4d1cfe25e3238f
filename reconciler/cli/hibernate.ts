import { hibernateWithMachinesAnnotation } from '../../constructs/api/group.ts';
import type { ConditionType } from '../../constructs/api/conditions.ts';
import { changingControlPlane, findingControlPlane, followingControlPlane } from './access.ts';
import { clusterArgument, type Command, hasSwitch } from './command.ts';
import { askingForPause, changeControlPlane, type ControlPlane, findAttended } from './control-plane.ts';
import { printRequested, type Progress } from './follow.ts';
import { nextCommand } from './format.ts';

const wait = { type: 'boolean', meaning: 'wait until it is done' } as const;

/** Stops a control plane and keeps its data, by the field that users can also set. */
export const hibernate: Command = {
  name: 'hibernate',
  examples: [['hibernate dev -n team-a --wait', 'stops it, after a last backup']],
  usage: 'CLUSTER [--with-machines] [--wait]',
  summary: 'Stops a control plane, after a last backup if it has backups. Volumes, addresses and certificates stay.',
  options: {
    wait,
    'with-machines': {
      type: 'boolean',
      meaning: 'also while Machines exist, whose pods keep running without an API server',
    },
  },
  access: [
    findingControlPlane,
    askingForPause,
    followingControlPlane('--wait'),
    changingControlPlane('requesting hibernation'),
  ],
  prepare(given) {
    const cluster = clusterArgument(given);
    const annotations = hasSwitch(given, 'with-machines') ? { [hibernateWithMachinesAnnotation]: 'true' } : {};
    return async (session) => {
      const controlPlane = await findAttended(session, cluster);
      await changeControlPlane(session, controlPlane.object, { metadata: { annotations }, spec: { hibernate: true } });
      const said = `${controlPlane.cluster} stops`;
      await printRequested(session, controlPlane, { said, wait: hasSwitch(given, 'wait'), look: asleepProgress });
    };
  },
};

/** Lets it run again. */
export const wake: Command = {
  name: 'wake',
  examples: [['wake dev -n team-a --wait --timeout 10m', 'starts it again']],
  usage: 'CLUSTER [--wait]',
  summary: 'Starts a control plane that hibernates, with its data, addresses and certificates.',
  options: { wait },
  access: [
    findingControlPlane,
    askingForPause,
    followingControlPlane('--wait'),
    changingControlPlane('ending hibernation'),
  ],
  prepare(given) {
    const cluster = clusterArgument(given);
    return async (session) => {
      const annotations = { [hibernateWithMachinesAnnotation]: null };
      const controlPlane = await findAttended(session, cluster);
      refuseAwake(controlPlane);
      await changeControlPlane(session, controlPlane.object, { metadata: { annotations }, spec: { hibernate: null } });
      const said = `${controlPlane.cluster} starts`;
      await printRequested(session, controlPlane, { said, wait: hasSwitch(given, 'wait'), look: awakeProgress });
    };
  },
};

/** @throws when no hibernation is asked for, and none is ending */
function refuseAwake({ cluster, object: { spec, status } }: ControlPlane): void {
  const awake = status?.conditions?.find(({ type }) => type === 'Awake');
  if (!spec.hibernate && awake?.status !== 'False')
    throw new Error(`${cluster} does not hibernate: nothing was changed`);
}

/** The progress until no component runs. */
function asleepProgress({ cluster, object }: ControlPlane): Progress {
  const awake = observed(object, 'Awake');
  if (awake?.reason === 'HibernationRefused')
    return { kind: 'failed', message: `${cluster} runs on: ${awake.message}` };
  if (awake?.reason === 'Hibernated')
    return {
      kind: 'done',
      message: `${cluster} hibernates: no component runs, and its volumes, addresses and certificates stay. To start it, run ${nextCommand('wake', cluster, object.metadata.namespace)}`,
    };
  if (awake?.status !== 'False') return { kind: 'running', message: 'waiting for the operator' };
  return { kind: 'running', message: `${awake.reason}: ${awake.message.split('; to wake it up')[0]}` };
}

/** The progress until everything works again. */
function awakeProgress({ cluster, object }: ControlPlane): Progress {
  const ready = observed(object, 'Ready');
  if (ready?.status === 'True') return { kind: 'done', message: `${cluster} is ready` };
  return { kind: 'running', message: ready ? `${ready.reason}: ${ready.message}` : 'waiting for the operator' };
}

/** A condition that the operator has written for the newest spec. */
function observed({ metadata, status }: ControlPlane['object'], wanted: ConditionType) {
  const condition = status?.conditions?.find(({ type }) => type === wanted);
  return (condition?.observedGeneration ?? 0) >= (metadata.generation ?? 0) ? condition : undefined;
}
