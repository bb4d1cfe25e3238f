import { expect, it } from 'vitest';
import { Gateway } from '../../../../constructs/api/resources.ts';
import type { GatewayObject } from '../../../../reconciler/clusters/exposure/gateway-object.ts';
import { KubeError } from '../../../../reconciler/kube/errors.ts';
import { describeUnreachable } from '../../../../reconciler/clusters/exposure/unreachable.ts';

const host = 'c1.team.clusters.example.org';
const at = `${host}:443`;
const { apiVersion, kind } = Gateway;
const gateway: GatewayObject = {
  apiVersion,
  kind,
  metadata: { namespace: 'infra', name: 'shared' },
  spec: {
    listeners: [
      { name: 'http', protocol: 'HTTP', port: 80 },
      { name: 'tls', protocol: 'TLS', port: 443, hostname: '*.clusters.example.org' },
    ],
  },
  status: { addresses: [{ value: '192.0.2.1' }, { value: '192.0.2.2' }] },
};

/** A request that failed below HTTP. */
const broken = (code: string, message = code) =>
  new KubeError(`GET /readyz: cannot reach https://${at}: ${message}`, {
    code: 0,
    reason: 'Unreachable',
    cause: Object.assign(new Error('wrapped', { cause: Object.assign(new Error(message), { code }) }), {
      code: 'UND_ERR_SOCKET',
    }),
  });

it.each<[string, unknown, GatewayObject | undefined, string]>([
  [
    'a name without a record, behind a Gateway',
    broken('ENOTFOUND'),
    gateway,
    `host ${host} does not resolve (ENOTFOUND): create a DNS record for *.clusters.example.org that points to the Gateway's address 192.0.2.1 or 192.0.2.2`,
  ],
  [
    'a name that no wildcard covers, behind a Gateway without an address',
    broken('EAI_AGAIN'),
    { ...gateway, spec: { listeners: [] }, status: {} },
    `host ${host} does not resolve (EAI_AGAIN): create a DNS record for ${host} that points to the address that clients use`,
  ],
  [
    'a name without a record, behind no known load balancer',
    broken('ENOTFOUND'),
    undefined,
    `host ${host} does not resolve (ENOTFOUND): create a DNS record for ${host} that points to the address that clients use`,
  ],
  [
    'the certificate of another CA',
    broken('DEPTH_ZERO_SELF_SIGNED_CERT'),
    gateway,
    `another server answers at ${at}: the CA of this cluster did not sign its certificate (DEPTH_ZERO_SELF_SIGNED_CERT); check for another route with this host name, and for a proxy on the path that terminates TLS`,
  ],
  [
    'a certificate for other names',
    broken('ERR_TLS_CERT_ALTNAME_INVALID'),
    gateway,
    `the server that answers at ${at} has a certificate for other names (ERR_TLS_CERT_ALTNAME_INVALID): check for another route with this host name`,
  ],
  [
    'a connection that is closed at once',
    broken('ECONNRESET'),
    gateway,
    `the connection to ${at} was closed without an answer (ECONNRESET): the server there does not route this host name yet, or has no ready API server as backend`,
  ],
  [
    'an address where nothing listens',
    broken('ECONNREFUSED'),
    gateway,
    `no server listens at ${at} (ECONNREFUSED): check the load balancer, gateway or ingress controller at this address`,
  ],
  [
    'an API server that is not ready',
    new KubeError('GET /readyz: etcd failed', { code: 500, reason: 'InternalError' }),
    gateway,
    `the API server at ${at} answers, but is not ready: GET /readyz: etcd failed`,
  ],
  [
    'silence',
    new KubeError('GET /readyz: no answer within 5000 ms', { code: 0, reason: 'Timeout' }),
    gateway,
    `the API server does not answer at ${at}: GET /readyz: no answer within 5000 ms`,
  ],
  ['a value that is not an error', 'text', gateway, `the API server does not answer at ${at}: text`],
])('the message about %s names a remedy', (_, error, behind, expected) => {
  expect(describeUnreachable(error, { endpoint: { host, port: 443 }, gateway: behind })).toBe(expected);
});
