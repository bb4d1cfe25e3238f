import { canonicalHost } from '../../../../constructs/cluster/canonical-host.ts';
import { describe, expect, it } from 'vitest';
import { networkOf } from '../../../../constructs/cluster/cluster.ts';
import {
  adminPlan,
  planCAs,
  planCertificates,
  planEtcdCertificates,
} from '../../../../constructs/control-plane/certificates/certificate-plans.ts';
import { hostedCluster } from '../../../support/scope.ts';

const cluster = {
  ...hostedCluster({ apiServer: { certSANs: ['kube.example.test', 'api.example.test'] } }),
  network: networkOf({ serviceDomain: 'hosted.test', services: { cidrBlocks: ['10.128.0.0/16', 'fd00:1::/112'] } }),
};
const endpoint = { host: 'api.example.test', port: 443 };
const konnectivity = { host: 'konnectivity.example.test', port: 443 };
const plans = [...planEtcdCertificates(cluster), ...planCertificates(cluster, endpoint, konnectivity), adminPlan('c1')];

const hostsOf = (secret: string) => plans.find((plan) => plan.secret === secret)?.hosts ?? [];

describe('the certificates of a control plane', () => {
  it('are these', () => {
    const table = plans.map(({ secret, signer, commonName, organizations, usages, hosts }) => {
      const subject = [...organizations.map((name) => `O=${name}`), `CN=${commonName}`].join(',');
      return [`${secret}: ${subject} by ${signer} for ${usages.join('+')}`, ...hosts.map((host) => `  ${host}`)].join(
        '\n',
      );
    });
    expect(table.join('\n')).toMatchInlineSnapshot(`
      "c1-etcd-server: CN=etcd-server by etcd for server+client
        localhost
        127.0.0.1
        ::1
        c1-etcd-0.e-c1-etcd.team.svc
        c1-etcd-1.e-c1-etcd.team.svc
        c1-etcd-2.e-c1-etcd.team.svc
        c1-etcd-3.e-c1-etcd.team.svc
        c1-etcd-4.e-c1-etcd.team.svc
        e-c1-etcd-client.team.svc
      c1-etcd-peer: CN=etcd-peer by etcd for server+client
        c1-etcd-0.e-c1-etcd.team.svc
        c1-etcd-1.e-c1-etcd.team.svc
        c1-etcd-2.e-c1-etcd.team.svc
        c1-etcd-3.e-c1-etcd.team.svc
        c1-etcd-4.e-c1-etcd.team.svc
      c1-apiserver-etcd-client: CN=apiserver-etcd-client by etcd for client
      c1-etcd-controller: CN=hosted-control-plane-controller by etcd for client
      c1-apiserver: CN=kube-apiserver by cluster for server
        localhost
        127.0.0.1
        ::1
        kubernetes
        kubernetes.default
        kubernetes.default.svc
        kubernetes.default.svc.hosted.test
        10.128.0.1
        fd00:1::1
        s-c1
        s-c1.team.svc
        api.example.test
        kube.example.test
      c1-konnectivity-server: CN=konnectivity-server by cluster for server
        konnectivity.example.test
        s-c1.team.svc
      c1-apiserver-kubelet-client: CN=kube-apiserver-kubelet-client by cluster for client
      c1-front-proxy-client: CN=front-proxy-client by proxy for client
      c1-konnectivity-client: CN=system:konnectivity-server by cluster for client
      c1-controller-manager: CN=system:kube-controller-manager by cluster for client
      c1-scheduler: CN=system:kube-scheduler by cluster for client
      c1-control-plane-controller: CN=hosted-control-plane-controller by cluster for client
      c1-kubeconfig: O=system:masters,CN=kubernetes-admin by cluster for client"
    `);
  });

  it('are signed by three independent CAs', () => {
    const table = planCAs('c1').map(({ ca, secret, commonName }) => `${ca}: ${secret} CN=${commonName}`);
    expect(table.join('\n')).toMatchInlineSnapshot(`
      "cluster: c1-ca CN=kubernetes
      etcd: c1-etcd CN=etcd-ca
      proxy: c1-proxy CN=front-proxy-ca"
    `);
  });

  it('are each in their own Secret, none in that of a CA', () => {
    const secrets = [...plans, ...planCAs('c1')].map(({ secret }) => secret);
    expect(new Set(secrets).size).toBe(secrets.length);
  });

  it('contain exactly one administrator', () => {
    const administrators = plans.filter(({ organizations }) => organizations.includes('system:masters'));
    expect(administrators.map(({ secret }) => secret)).toEqual(['c1-kubeconfig']);
  });

  it('allow only its members, the API server and the operator to connect to etcd', () => {
    const accepted = plans.filter(({ signer }) => signer === 'etcd').map(({ commonName }) => commonName);
    expect(accepted).toEqual(['etcd-server', 'etcd-peer', 'apiserver-etcd-client', 'hosted-control-plane-controller']);
  });

  it('allow only the API server to impersonate others', () => {
    const accepted = plans.filter(({ signer }) => signer === 'proxy').map(({ commonName }) => commonName);
    expect(accepted).toEqual(['front-proxy-client']);
  });

  it('name hosts exactly if they are server certificates, and none twice', () => {
    for (const { usages, hosts } of plans) {
      expect(hosts.length > 0).toBe(usages.includes('server'));
      expect(new Set(hosts).size).toBe(hosts.length);
    }
  });

  it.each([
    ['the endpoint', 'api.example.test'],
    ['names of the user', 'kube.example.test'],
    ['the Service in the management cluster', 's-c1.team.svc'],
    ['the Service in the hosted cluster', 'kubernetes'],
    ['the same in its namespace', 'kubernetes.default'],
    ['the same for services', 'kubernetes.default.svc'],
    ['the same in the domain of the Cluster', 'kubernetes.default.svc.hosted.test'],
    ['the first address of the first service network', '10.128.0.1'],
    ['the first address of the second service network', 'fd00:1::1'],
    ['loopback', '127.0.0.1'],
    ['loopback of IPv6', '::1'],
    ['loopback by name', 'localhost'],
  ])('are valid for the API server as %s', (_, host) => {
    expect(hostsOf('c1-apiserver')).toContain(host);
  });

  it('allow etcd to grow without a new certificate', () => {
    const members = [0, 1, 2, 3, 4].map((ordinal) => `c1-etcd-${ordinal}.e-c1-etcd.team.svc`);
    expect(hostsOf('c1-etcd-server')).toEqual(
      expect.arrayContaining([...members, 'e-c1-etcd-client.team.svc', '127.0.0.1']),
    );
    expect(hostsOf('c1-etcd-peer')).toEqual(members);
  });
});

it.each([
  ['2001:0db8:0:0::1', '2001:db8::1'],
  ['0:0:0:0:0:0:0:1', '::1'],
  ['192.0.2.1', '192.0.2.1'],
  ['API.Example.test', 'api.example.test'],
])('writes %s as certificates do', (host, canonical) => {
  expect(canonicalHost(host)).toBe(canonical);
});
