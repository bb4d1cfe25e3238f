import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { Gateway, HostedControlPlane } from '../../../../constructs/api/resources.ts';
import { status } from '../../../../reconciler/cli/status.ts';
import type { Cause } from '../../../../reconciler/cli/status/warnings.ts';
import type { KubeClient } from '../../../../reconciler/kube/client.ts';
import { messageOf } from '../../../../reconciler/kube/error-message.ts';
import { shared, startSharedOperator } from '../../../cluster/exposure/shared-operator.ts';
import { tenantOf } from '../../../cluster/exposure/tenant.ts';
import { whoAmI } from '../../../cluster/exposure/who-am-i.ts';
import type { TestOperator } from '../../../support/operator.ts';
import { testSession } from '../../../support/test-session.ts';
import { until } from '../../../support/until.ts';
import { single, Workbench } from '../../../support/workbench.ts';
import { installAddon } from '../../../tools/testbed/addons.ts';
import { clustersDomain, gatewayAddress } from '../../../tools/testbed/gateway-address.ts';
import { instanceFrom } from '../../../tools/testbed/instance.ts';

const instance = instanceFrom(process.env, inject('testbed'));
const address = gatewayAddress(instance);
const fieldManager = 'test';
const type = 'SyncControlPlaneEndpointReady';

let bench: Workbench;
let neighbour: Workbench;
let operator: TestOperator;
let tenant: KubeClient;
/** In the namespace of the control plane. */
const later = { namespace: 'late-gateway', name: 'later' };
const behindLater = { ...single, exposure: { gateway: later } };

beforeAll(async () => {
  const kubeconfig = inject('kubeconfig');
  await installAddon(instance, 'traefik', () => {});
  bench = await Workbench.open(kubeconfig, later.namespace);
  neighbour = await Workbench.open(kubeconfig, 'late-gateway-too');
  tenant = await tenantOf(neighbour, kubeconfig);
  operator = await startSharedOperator(instance, bench, kubeconfig);
  // Older than the control plane whose host it asks for later.
  await neighbour.createHostedControlPlane('c2-cp', behindLater);
  await neighbour.patch('c2', shared);
});
afterAll(async () => {
  await operator.stop();
  await tenant.connection.close();
  await Promise.all([bench.close(), neighbour.close()]);
});

/** What `hcp status` prints about what is behind the state of a control plane. */
async function behind(cluster: string): Promise<readonly Cause[]> {
  const { session, printed } = testSession({ client: await bench.hcp.client(status), namespace: bench.namespace });
  const failure = await status
    .prepare({ positionals: [cluster], values: { output: 'json' } })(session)
    .catch(messageOf);
  expect([undefined, `the API server of ${cluster} is not available`]).toContain(failure);
  return (JSON.parse(printed.join('\n')) as { readonly causes: readonly Cause[] }).causes;
}

test('a new Gateway and a corrected listener are observed at once, and hcp status says what is wrong until then', async () => {
  await bench.create('c3', behindLater);
  await bench.patch('c3', shared);
  const missing = await bench.untilCondition('c3', type, { reason: 'GatewayNotFound' });
  expect(missing.message).toContain('Gateway late-gateway/later does not exist: create it');
  expect(await behind('c3')).toContainEqual(
    expect.objectContaining({ text: expect.stringMatching(/Gateway late-gateway\/later: does not exist/) }),
  );

  const { apiVersion, kind } = Gateway;
  const certificateRefs = [{ name: 'none' }];
  const listener = (tls: object) => ({
    name: 'tls',
    protocol: 'TLS',
    port: 443,
    hostname: `*.later.${clustersDomain}`,
    tls,
  });
  const spec = (tls: object) => ({ gatewayClassName: 'traefik', listeners: [listener(tls)] });
  const terminating = { mode: 'Terminate', certificateRefs };
  await bench.client.create({ apiVersion, kind, metadata: later, spec: spec(terminating) }, { fieldManager });
  // The next resync is ten minutes away: the informers' watches report the change.
  const unsuitable = await bench.untilCondition('c3', type, { reason: 'GatewayListenerUnsuitable' });
  expect(unsuitable.message).toContain('listener tls: its tls.mode is Terminate, set Passthrough');

  await until('the controller to report the listener', async () =>
    /listener tls: ResolvedRefs is False: InvalidCertificateRef/.test(JSON.stringify(await behind('c3'))),
  );

  await bench.client.mergePatch(Gateway, later, { spec: spec({ mode: 'Passthrough' }) }, { fieldManager });
  await bench.untilReady('c3');
  expect(await whoAmI({ instance, bench, address }, 'c3')).toMatchObject({ username: 'kubernetes-admin' });
  await until('nothing to be wrong', async () => (await behind('c3')).length === 0);
});

test('a tenant does not take the host of a control plane that works, by an older object that asks for it later', async () => {
  const { controlPlaneEndpoint } = (await bench.get('c3')).spec;
  const asks = { spec: { controlPlaneEndpoint: { host: controlPlaneEndpoint?.host } } };
  const older = { namespace: neighbour.namespace, name: 'c2-cp' };
  await tenant.mergePatch(HostedControlPlane, older, asks, { fieldManager });
  await bench.untilSeen('c3');
  expect(await bench.condition('c3', type)).toMatchObject({ status: 'True' });
});
