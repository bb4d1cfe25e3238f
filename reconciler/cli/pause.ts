import type { ClusterObject } from '../../imports/cluster-api.ts';
import { pausedAnnotation } from '../../constructs/api/group.ts';
import { Cluster } from '../../constructs/api/resources.ts';
import type { KubeObject } from '../kube/object.ts';
import { changingControlPlane, findingControlPlane } from './access.ts';
import { clusterArgument, type Command, type Session } from './command.ts';
import { clusterOf } from '../clusters/management/owning-cluster.ts';
import { changeControlPlane, findObject } from './control-plane.ts';
import { nextCommand } from './format.ts';

/** Keeps the operator away from one control plane, with the annotation that Cluster API defines for it. */
export const pause: Command = {
  name: 'pause',
  examples: [['pause prod -n team-a', 'before you change its objects by hand']],
  usage: 'CLUSTER',
  summary: 'Stops all changes of a control plane by the operator: also renewals, repairs and backups.',
  options: {},
  access: [findingControlPlane, changingControlPlane('setting the annotation')],
  prepare(given) {
    const name = clusterArgument(given);
    return async (session) => {
      const object = await findObject(session, name);
      const shown = clusterOf(object) ?? name;
      if (isPaused(object)) return session.terminal.print(`the control plane of ${shown} is paused already`);
      await annotate(session, object, '');
      session.terminal.print(
        `the control plane of ${shown} is paused: it keeps serving, and nothing is renewed, repaired or backed up before ${nextCommand('resume', shown, session.namespace)}`,
      );
    };
  },
};

/** Ends a pause of {@link pause}, or of another client that has set the annotation. */
export const resume: Command = {
  name: 'resume',
  examples: [['resume prod -n team-a', 'lets the operator continue']],
  usage: 'CLUSTER',
  summary: 'Ends a pause of a control plane.',
  options: {},
  access: [
    findingControlPlane,
    changingControlPlane('removing the annotation'),
    { resource: Cluster, verbs: ['get'], why: 'whether the Cluster is paused as a whole' },
  ],
  prepare(given) {
    const name = clusterArgument(given);
    return async (session) => {
      const object = await findObject(session, name);
      const cluster = clusterOf(object);
      const shown = cluster ?? name;
      if (isPaused(object)) await annotate(session, object, null);
      const owner = cluster === undefined ? undefined : await findCluster(session, cluster);
      if (owner?.spec?.paused) {
        throw new Error(
          `Cluster ${cluster} is paused as a whole, by its field spec.paused: set it to false, unless a clusterctl move is in progress`,
        );
      }
      session.terminal.print(
        isPaused(object)
          ? `the control plane of ${shown} is resumed: the operator reconciles it again`
          : `the control plane of ${shown} is not paused`,
      );
    };
  },
};

function isPaused({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[pausedAnnotation] !== undefined;
}

async function annotate(session: Session, object: KubeObject, value: '' | null): Promise<void> {
  await changeControlPlane(session, object, { metadata: { annotations: { [pausedAnnotation]: value } } });
}

function findCluster({ client, namespace }: Session, name: string): Promise<ClusterObject | undefined> {
  return client.find<ClusterObject>(Cluster, { namespace, name });
}
