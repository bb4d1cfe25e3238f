import { beforeAll, expect, test } from 'vitest';
import { claims } from '../disaster/claims.ts';
import { runDisaster, type Rebuilt } from '../disaster/disaster.ts';
import { recordFault } from '../support/fault-table.ts';
import { ownTestbed } from '../support/own-testbed.ts';

const instance = ownTestbed('fire');
let rebuilt: Rebuilt;

beforeAll(async () => {
  rebuilt = await runDisaster(instance, (line) => console.log(line));
}, 900_000);

test.for(claims)('after the loss of the management cluster and a rebuild, $claim', ({ fault }) => {
  expect(fault(rebuilt)).toBeUndefined();
});

test('the disaster is recorded with its cost', async () => {
  const { writes, seconds } = rebuilt;
  expect(claims.flatMap(({ fault }) => fault(rebuilt) ?? [])).toEqual([]);
  expect(writes.younger).toBeGreaterThan(0);
  await recordFault({
    fault: 'the whole management cluster is lost; the hosted cluster is rebuilt in a fresh one from its backup',
    observed:
      'pods on the worker keep answering; the endpoint, CAs, tokens and kubeconfigs are the same, and neither the kubelet nor a container was restarted',
    recoverySeconds: seconds.silence,
    dataLost: `none of the backup; ${writes.younger} writes after it are lost with the management cluster`,
  });
});
