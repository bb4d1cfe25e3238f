import { describe, expect, it } from 'vitest';
import { type ImportInput, planImport } from '../../../reconciler/import/plan-import.ts';

const stopped = { wanted: [], pods: [] };
/** An import of which everything is done but the hand-over. */
const done: ImportInput = {
  isHandedOver: false,
  isPaused: true,
  hasRecord: true,
  unkeptVolumes: [],
  servers: stopped,
  isStopRecorded: true,
  snapshot: 'final.etcd',
  etcd: stopped,
  leftovers: [],
  missingSecrets: [],
};
/** Nothing is done: everything of the other provider runs. */
const begun: ImportInput = {
  isHandedOver: false,
  isPaused: false,
  hasRecord: false,
  unkeptVolumes: ['pv-0'],
  servers: { wanted: ['c1-api-server'], pods: ['api-0'] },
  isStopRecorded: false,
  snapshot: undefined,
  etcd: { wanted: ['c1-etcd'], pods: ['c1-etcd-0'] },
  leftovers: ['Secret c1-ca'],
  missingSecrets: ['c1-sa'],
};

describe('the next step of an import', () => {
  const facts: readonly (readonly [step: string, change: Partial<ImportInput>])[] = [
    ['pause', { isPaused: true }],
    ['record', { hasRecord: true }],
    ['keepVolumes', { unkeptVolumes: [] }],
    ['stopServers', { servers: { wanted: [], pods: ['api-0'] }, isStopRecorded: true }],
    ['awaitServers', { servers: stopped }],
    ['storeSnapshot', { snapshot: 'final.etcd' }],
    ['stopEtcd', { etcd: { wanted: [], pods: ['c1-etcd-0'] } }],
    ['awaitEtcd', { etcd: stopped }],
    ['removeLeftovers', { leftovers: [] }],
    ['writeSecrets', { missingSecrets: [] }],
    ['handOver', { isHandedOver: true }],
    ['follow', {}],
  ];

  it('changes the next thing only when the one before is observed to be done', () => {
    let observed = begun;
    for (const [step, change] of facts) {
      expect(planImport(observed).kind).toBe(step);
      observed = { ...observed, ...change };
    }
  });

  it.each<[string, Partial<ImportInput>, string]>([
    ['a person ends the pause', { isPaused: false }, 'pause'],
    ['the record is lost', { hasRecord: false }, 'record'],
    ['a volume is no longer kept', { unkeptVolumes: ['pv-0'] }, 'keepVolumes'],
    ['API servers run again', { servers: { wanted: ['c1-api-server'], pods: [] } }, 'stopServers'],
    ['the time of the stop is not recorded', { isStopRecorded: false }, 'stopServers'],
    ['a pod still runs', { servers: { wanted: [], pods: ['api-0'] } }, 'awaitServers'],
    ['etcd was started again', { etcd: { wanted: ['c1-etcd'], pods: [] } }, 'stopEtcd'],
    ['cert-manager has written a Secret again', { leftovers: ['Secret c1-ca'] }, 'removeLeftovers'],
    ['a Secret is lost', { missingSecrets: ['c1-sa'] }, 'writeSecrets'],
    ['nothing is missing', {}, 'handOver'],
  ])('goes back before the hand-over when %s', (_, change, step) => {
    expect(planImport({ ...done, ...change }).kind).toBe(step);
  });

  it.each<Partial<ImportInput>>([
    { unkeptVolumes: ['pv-0'] },
    { hasRecord: false },
    { servers: { wanted: [], pods: ['api-0'] } },
    { snapshot: undefined },
  ])('neither stops etcd nor deletes anything while %o', (change) => {
    const { kind } = planImport({
      ...begun,
      isPaused: true,
      hasRecord: true,
      unkeptVolumes: [],
      servers: stopped,
      isStopRecorded: true,
      snapshot: 'final.etcd',
      ...change,
    });
    expect(['stopEtcd', 'removeLeftovers']).not.toContain(kind);
  });

  it('is to follow the operator once that has the control plane, whatever exists beside it', () => {
    expect(planImport({ ...begun, isHandedOver: true })).toEqual({ kind: 'follow' });
  });
});
