import { expect, it } from 'vitest';
import { CertificateSigningRequest } from '../../../constructs/api/resources.ts';
import { kubeletRequest } from '../../support/kubelet-request.ts';
import { OperatorProcess } from '../../support/loop/operator-process.ts';
import { completeCluster } from '../../support/loop/scenario.ts';
import { MemoryClient } from '../../support/memory-cluster/client.ts';
import { administrator } from '../../support/memory-cluster/users.ts';

const admin = { fieldManager: 'admin' };

it('the operator stops to watch a hosted cluster that its users fill, says so, and goes on when it is emptied', async () => {
  const management = await completeCluster();
  const users = new MemoryClient(management.hosted, administrator('users'));
  const request = await kubeletRequest();
  const names = Array.from({ length: 40 }, (_, index) => `csr-${index}`);
  for (const name of names) {
    const spec = { ...request.spec, username: 'x'.repeat(1024 * 1024) };
    await users.create({ ...request, metadata: { name }, spec }, admin);
  }
  const condition = (type: string) => management.conditions.find((one) => one.type === type);
  const operator = await OperatorProcess.start(management);
  await operator.untilSettled();
  expect(condition('WorkloadKubeletCertificatesReady')).toMatchObject({
    status: 'False',
    reason: 'HostedClusterTooLarge',
    message: expect.stringContaining('the objects that the operator watches are larger than 32 MiB together'),
  });
  expect(condition('Available')).toMatchObject({ status: 'True' });
  const logged = operator.errors.length;
  await management.clock.advance(3 * 60_000);
  expect(operator.errors).toHaveLength(logged);

  for (const name of names) await users.delete(CertificateSigningRequest, { name });
  await management.clock.advance(4 * 60_000);
  await operator.untilSettled();
  expect(condition('WorkloadKubeletCertificatesReady')).toMatchObject({ status: 'True' });
  await operator.stop();
});
