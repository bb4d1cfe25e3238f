import { expect, test } from 'vitest';
import { clustersDomain } from '../../../tools/testbed/gateway-address.ts';
import { accessAt, joinBehind } from '../../../cluster/workers/join-behind.ts';

const host = `api.by-ingress.${clustersDomain}`;
const ingress = {
  controller: 'nginx',
  className: 'nginx',
  apiHost: host,
  konnectivityHost: `agents.by-ingress.${clustersDomain}`,
};

test('behind an ingress controller a worker joins, its pods reach the API server, and kubectl reaches them', async () => {
  const access = await joinBehind({ namespace: 'by-ingress', spec: { exposure: { ingress } } });
  expect(access).toEqual(accessAt(`${host}:443`));
});
