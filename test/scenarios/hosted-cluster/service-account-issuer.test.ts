import { beforeAll, describe, expect, it } from 'vitest';
import { serviceAccountIssuerAnnotation } from '../../../constructs/api/group.ts';
import { Cluster, Deployment, HostedControlPlane, Secret } from '../../../constructs/api/resources.ts';
import type { HostedControlPlaneStatus } from '../../../constructs/api/status.ts';
import { namesOf } from '../../../constructs/cluster/names.ts';
import { repeatedArgument } from '../../../reconciler/clusters/pods/api-server-arguments.ts';
import { type MemoryCluster } from '../../support/loop/memory-cluster.ts';
import { OperatorProcess } from '../../support/loop/operator-process.ts';
import { completeCluster, everyCrash, expectNoWrites, expectSameAfter, settleBy } from '../../support/loop/scenario.ts';
import { loadBalancerAddress, unknownFlag } from '../../support/management-controllers.ts';
import type { StoredObject } from '../../support/memory-objects.ts';
import { clusterName, namespace } from '../../support/scope.ts';

const names = namesOf(clusterName);
const keys = { namespace, name: names.secrets.serviceAccount };
const byName = 'https://kubernetes.default.svc.cluster.local';
const atEndpoint = `https://${loadBalancerAddress}:6443`;

let complete: MemoryCluster;
beforeAll(async () => {
  complete = await completeCluster();
});

/** What the API servers, the record and the status say. */
function issuersIn({ objects, hostedControlPlane }: MemoryCluster) {
  return {
    running: repeatedArgument(objects.get<StoredObject>(Deployment, names.apiServer), 'service-account-issuer'),
    recorded: objects.get(Secret, keys.name)?.metadata.annotations?.[serviceAccountIssuerAnnotation],
    reported: (hostedControlPlane as { status?: HostedControlPlaneStatus }).status?.serviceAccountIssuer,
  };
}

const everywhere = (issuer: string, ...accepted: readonly string[]) => ({
  running: [issuer, ...accepted],
  recorded: issuer,
  reported: issuer,
});

async function annotateKeys(management: MemoryCluster, issuer: string | null): Promise<void> {
  const annotations = { [serviceAccountIssuerAnnotation]: issuer };
  await management.user.mergePatch(Secret, keys, { metadata: { annotations } }, { fieldManager: 'user' });
}

/** The control plane as an earlier release has left it. */
async function asOfEarlierRelease(): Promise<MemoryCluster> {
  const management = complete.copy();
  await annotateKeys(management, byName);
  await settleBy(management);
  expect(issuersIn(management).running).toEqual([byName]);
  await annotateKeys(management, null);
  return management;
}

it('a new control plane issues as its endpoint, and records it before an API server starts', () => {
  expect(issuersIn(complete)).toEqual(everywhere(atEndpoint));
  const { writes } = complete.management;
  const index = (text: string) => writes.findIndex((write) => write.includes(text));
  expect(index(keys.name)).toBeLessThan(index(`Deployment ${namespace}/${names.apiServer}`));
});

it('a control plane of an earlier release keeps its issuer and its pods, and records the issuer', async () => {
  const management = await asOfEarlierRelease();
  const before = management.objects.get<StoredObject>(Deployment, names.apiServer)?.['spec'];
  const operator = await OperatorProcess.start(management);
  await operator.untilSettled();
  expect(issuersIn(management)).toEqual(everywhere(byName));
  expect(management.objects.get<StoredObject>(Deployment, names.apiServer)?.['spec']).toEqual(before);
  await expectNoWrites(management, operator);
  await operator.stop();
});

it('a control plane of an earlier release keeps its issuer although its Deployment is gone', async () => {
  const management = await asOfEarlierRelease();
  await management.user.delete(Deployment, { namespace, name: names.apiServer });
  await settleBy(management);
  expect(issuersIn(management)).toEqual(everywhere(byName));
});

it('a new HostedControlPlane on retained volumes keeps the issuer of its keys', async () => {
  const management = complete.copy();
  await management.change({ etcd: { volumeRetention: 'Retain' } });
  await annotateKeys(management, 'https://elsewhere.example.org');
  await settleBy(management);
  const { metadata } = management.hostedControlPlane;
  await management.user.delete(HostedControlPlane, { namespace, name: metadata.name });
  await settleBy(management);
  await management.clock.advance(60_000);
  const cluster = await management.user.get(Cluster, { namespace, name: clusterName });
  await management.orderControlPlane(cluster, { etcd: { replicas: 3, volumeRetention: 'Retain' } });
  await settleBy(management);
  expect(issuersIn(management)).toEqual(everywhere('https://elsewhere.example.org'));
});

describe('another issuer of the spec', () => {
  const issuer = 'https://tokens.example.org';
  const asked = { serviceAccountIssuer: { issuer, acceptedIssuers: [atEndpoint] } };

  it('is the first one of a new control plane', async () => {
    const management = await completeCluster({ serviceAccountIssuer: { issuer, acceptedIssuers: [byName] } });
    expect(issuersIn(management)).toEqual(everywhere(issuer, byName));
  });

  it('is accepted by every API server before one signs with it, and its record comes first', async () => {
    const management = complete.copy();
    await management.change(asked);
    const crashes = await everyCrash(management);
    expect(issuersIn(management)).toEqual(everywhere(issuer, atEndpoint));
    const states = crashes.map(({ cluster }) => issuersIn(cluster));
    const seen = [...new Set(states.map(({ running, recorded }) => `${recorded}: ${running.join()}`))];
    expect(seen).toEqual([
      `${atEndpoint}: ${atEndpoint}`,
      `${atEndpoint}: ${atEndpoint},${issuer}`,
      `${issuer}: ${atEndpoint},${issuer}`,
      `${issuer}: ${issuer},${atEndpoint}`,
    ]);
    await expectSameAfter(crashes, management);
  });

  it('waits with the rest of a spec that a kube-apiserver refuses', async () => {
    const management = complete.copy();
    await management.change({ ...asked, deployment: { apiServer: { args: { [unknownFlag]: '1' } } } });
    await settleBy(management);
    expect(issuersIn(management)).toEqual(everywhere(atEndpoint));
  });

  it('stays when the spec says nothing any more, and the former one is not accepted', async () => {
    const management = complete.copy();
    await management.change(asked);
    await settleBy(management);
    await management.change({ serviceAccountIssuer: null });
    await settleBy(management);
    expect(issuersIn(management)).toEqual(everywhere(issuer));
  });
});
