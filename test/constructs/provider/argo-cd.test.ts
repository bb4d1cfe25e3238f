import { beforeAll, describe, expect, it } from 'vitest';
import { pausedAnnotation } from '../../../constructs/api/group.ts';
import { HostedControlPlane } from '../../../constructs/api/resources.ts';
import { healthScript } from '../../../constructs/provider/argo-cd.ts';
import { Life } from '../../support/loop/life.ts';
import { type MemoryCluster, ourName } from '../../support/loop/memory-cluster.ts';
import { luaLiteral, runLua } from '../../support/lua.ts';
import { completeCluster, orderedCluster, settleBy, someRounds } from '../../support/loop/scenario.ts';

const user = { fieldManager: 'user' };

/** What the script returns in a real interpreter of Lua. */
function healthOf(object: object) {
  return runLua(`obj = ${luaLiteral(object)}\n${healthScript}`, ['status', 'message']);
}

const shown = ({ hostedControlPlane }: MemoryCluster) => healthOf(hostedControlPlane);

let complete: MemoryCluster;
beforeAll(async () => {
  complete = await completeCluster();
});

describe('Argo CD shows a control plane', () => {
  it('as Progressing before and while it comes up', async () => {
    const management = await orderedCluster();
    expect(shown(management)).toEqual({ status: 'Progressing', message: 'waiting for the operator' });
    await someRounds(management, new Life());
    expect(['Progressing', 'Healthy']).toContain(shown(management).status);
  });

  it('as Healthy when it is ready, and as Progressing when its spec has changed since', async () => {
    const management = complete.copy();
    expect(shown(management)).toEqual({ status: 'Healthy', message: 'Ready' });
    await management.change({ replicas: 3 });
    expect(shown(management).status).toBe('Progressing');
  });

  it('as Healthy with what is wrong beside it', async () => {
    const management = complete.copy();
    await management.change({ deployment: { scheduler: { args: { 'leader-elect': 'false' } } } });
    await settleBy(management);
    expect(shown(management)).toEqual({ status: 'Healthy', message: 'Ready, flags ignored' });
  });

  it('as Suspended while it is paused', async () => {
    const management = complete.copy();
    const annotations = { [pausedAnnotation]: '' };
    await management.user.mergePatch(HostedControlPlane, ourName, { metadata: { annotations } }, user);
    await settleBy(management);
    expect(shown(management)).toMatchObject({
      status: 'Suspended',
      message: expect.stringContaining('paused') as string,
    });
  });

  it('as Suspended while it hibernates', async () => {
    const management = complete.copy();
    await management.change({ hibernate: true });
    await settleBy(management);
    expect(shown(management)).toMatchObject({
      status: 'Suspended',
      message: expect.stringContaining('hibernate') as string,
    });
  });

  it('as Degraded when a person has to act', async () => {
    const management = complete.copy();
    await management.change({
      etcd: { backup: { schedule: '@daily', secret: { name: 's3' }, timeZone: 'Mars/Olympus' } },
    });
    await settleBy(management);
    expect(shown(management)).toMatchObject({ status: 'Degraded', message: expect.stringContaining('IANA') as string });
  });
});
