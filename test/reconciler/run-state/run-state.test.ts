import { describe, expect, it } from 'vitest';
import { blockMoveAnnotation, movedDataAnnotation, prepareMoveAnnotation } from '../../../constructs/api/group.ts';
import { Deployment } from '../../../constructs/api/resources.ts';
import { selectorLabels } from '../../../constructs/cluster/labels.ts';
import { isHibernation, stopChange } from '../../../reconciler/run-state/run-state.ts';
import { MemoryObjects } from '../../support/memory-objects.ts';
import { clusterName, hostedControlPlaneUid, scopeOf } from '../../support/scope.ts';

const restore = { request: 'r', startTime: '2026-11-21T11:00:00Z' };
const pending = (reason: string) => ({
  type: 'NoMovePending',
  status: 'False' as const,
  reason,
  message: '',
  lastTransitionTime: '2026-11-21T11:00:00Z',
});

interface Present {
  readonly isRestoring?: boolean;
  readonly move?: 'requested' | 'begun' | 'refused' | 'prepared';
  readonly hibernate?: boolean;
}

/** API servers that have stopped for the third time. */
function stopped(): MemoryObjects {
  const management = new MemoryObjects();
  const metadata = {
    name: 'c1-api-server',
    labels: selectorLabels(clusterName, 'api-server'),
    uid: 'd',
    generation: 3,
  };
  const { apiVersion, kind } = Deployment;
  management.put({ apiVersion, kind, metadata, spec: { replicas: 0 }, status: { observedGeneration: 3 } });
  return management;
}

function stateWith({ isRestoring = false, move, hibernate = false }: Present, management = new MemoryObjects()) {
  const backup = '2026-11-25T09-00-00.000Z-42';
  const { runState } = scopeOf(management, {
    spec: { hibernate },
    annotations: {
      ...(move === undefined ? {} : { [prepareMoveAnnotation]: 'now', [blockMoveAnnotation]: 'etcd' }),
      ...(move === 'prepared' ? { [movedDataAnnotation]: `${hostedControlPlaneUid}/${backup}` } : {}),
    },
    status: {
      ...(isRestoring ? { etcd: { restore } } : {}),
      conditions:
        move === 'begun' ? [pending('StoppingAPIServers')] : move === 'refused' ? [pending('MoveRefused')] : [],
    },
  });
  return runState;
}

describe('the run state', () => {
  it.each<[Present, string]>([
    [{}, 'undefined Serving'],
    [{ isRestoring: true }, 'restore AllStopped'],
    [{ move: 'begun' }, 'move ServersStopped'],
    [{ move: 'prepared' }, 'move ServersStopped'],
    [{ move: 'refused' }, 'undefined Serving'],
    [{ hibernate: true }, 'hibernation AllStopped'],
    // The first reason has the control plane, and the others wait.
    [{ isRestoring: true, move: 'begun' }, 'restore AllStopped'],
    [{ isRestoring: true, hibernate: true }, 'restore AllStopped'],
    [{ move: 'begun', hibernate: true }, 'move ServersStopped'],
    [{ move: 'refused', hibernate: true }, 'hibernation AllStopped'],
    [{ isRestoring: true, move: 'prepared', hibernate: true }, 'restore AllStopped'],
  ])('of %j is %s', (present, expected) => {
    const { because, level } = stateWith(present);
    expect(`${because} ${level}`).toBe(expected);
  });

  it('asks for a backup of all data only once no API server can write any more', () => {
    expect(stateWith({ hibernate: true }).backups).toEqual({});
    expect(stateWith({ hibernate: true }, stopped()).backups).toEqual({ hibernation: 'hibernation d/3' });
    expect(stateWith({ move: 'requested' }, stopped()).backups).toEqual({ move: 'move d/3' });
    expect(stateWith({ isRestoring: true }, stopped()).backups).toEqual({});
  });
});

it('a hibernation is told from changes of versions', () => {
  expect(isHibernation(stopChange('hibernation', '1'))).toBe(true);
  expect(isHibernation('Kubernetes 1.35 to 1.36')).toBe(false);
  expect(isHibernation(stopChange('move', '1'))).toBe(false);
});
