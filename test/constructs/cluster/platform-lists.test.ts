import { describe, expect, it } from 'vitest';
import {
  admits,
  defaultPlatformLists,
  isPattern,
  passthroughKeys,
} from '../../../constructs/cluster/platform-lists.ts';

describe('a list of the platform', () => {
  it.each<[readonly string[], readonly string[], readonly string[]]>([
    [['a/b'], ['a/b', 'A/B'], ['a/bc', 'aa/b', '']],
    [['a/*'], ['a/b', 'a/'], ['b/a/c', 'a']],
    [['*/b'], ['a/b'], ['a/bc', 'b']],
    [['*b*'], ['abc', 'b'], ['ac']],
    [['*'], ['a', ''], []],
    [['a/*', '!*name', '!*shared*'], ['a/type'], ['a/name', 'a/Name', 'a/allow-shared-ip', 'b/type']],
    [['!*name'], [], ['a', 'name']],
    [['*', '!*'], [], ['a']],
    [[], [], ['a']],
  ])('%j admits %j, and not %j', (list, admitted, refused) => {
    expect(admitted.filter((key) => !admits(list, key))).toEqual([]);
    expect(refused.filter((key) => admits(list, key))).toEqual([]);
  });

  it('consists of patterns with a star at their ends only', () => {
    const given = ['a', 'a/*', '*a', '*a*', '*', '!*', '!a', '', '!', '**', 'a*b', 'a b', 'a!'];
    expect(given.filter(isPattern)).toEqual(['a', 'a/*', '*a', '*a*', '*', '!*', '!a']);
  });

  it('has only patterns, where the platform sets none', () => {
    expect(
      Object.values(defaultPlatformLists)
        .flat()
        .filter((one) => !isPattern(one)),
    ).toEqual([]);
  });
});

describe('by default', () => {
  it.each([
    'nginx.ingress.kubernetes.io/server-alias',
    'nginx.ingress.kubernetes.io/server-snippet',
    'nginx.ingress.kubernetes.io/configuration-snippet',
    'nginx.ingress.kubernetes.io/stream-snippet',
    'nginx.ingress.kubernetes.io/auth-url',
    'nginx.ingress.kubernetes.io/mirror-target',
    'haproxy.org/backend-config-snippet',
    'haproxy.org/route-acl',
    'haproxy-ingress.github.io/config-backend',
    'haproxy-ingress.github.io/server-alias',
    'external-dns.alpha.kubernetes.io/hostname',
    'external-dns.alpha.kubernetes.io/internal-hostname',
    'cert-manager.io/cluster-issuer',
    'example.org/any',
  ])('an Ingress does not get %s', (key) => {
    expect([...passthroughKeys, ...defaultPlatformLists.ingressAnnotations].includes(key)).toBe(false);
    expect(admits(defaultPlatformLists.ingressAnnotations, key)).toBe(false);
  });

  it.each([
    'external-dns.alpha.kubernetes.io/hostname',
    'external-dns.alpha.kubernetes.io/target',
    'metallb.io/allow-shared-ip',
    'metallb.universe.tf/allow-shared-ip',
    'metallb.universe.tf/loadBalancerIPs',
    'metallb.io/ip-allocated-from-pool',
    'lbipam.cilium.io/ips',
    'lbipam.cilium.io/sharing-key',
    'io.cilium/lb-ipam-ips',
    'service.cilium.io/global',
    'kube-vip.io/loadbalancerHostname',
    'loadbalancer.openstack.org/load-balancer-id',
    'loadbalancer.openstack.org/port-id',
    'loadbalancer.openstack.org/hostname',
    'loadbalancer.openstack.org/default-tls-container-ref',
    'load-balancer.hetzner.cloud/name',
    'load-balancer.hetzner.cloud/id',
    'load-balancer.hetzner.cloud/hostname',
    'load-balancer.hetzner.cloud/http-certificates',
    'service.beta.kubernetes.io/aws-load-balancer-name',
    'service.beta.kubernetes.io/aws-load-balancer-eip-allocations',
    'service.beta.kubernetes.io/aws-load-balancer-private-ipv4-addresses',
    'service.beta.kubernetes.io/aws-load-balancer-security-groups',
    'service.beta.kubernetes.io/aws-load-balancer-ssl-cert',
    'service.beta.kubernetes.io/azure-dns-label-name',
    'service.beta.kubernetes.io/azure-load-balancer-ipv4',
    'service.beta.kubernetes.io/azure-load-balancer-resource-group',
    'service.beta.kubernetes.io/azure-pip-name-ipv6',
    'service.beta.kubernetes.io/azure-shared-securityrule',
    'service.beta.kubernetes.io/do-loadbalancer-hostname',
    'service.beta.kubernetes.io/scw-loadbalancer-id',
    'service.beta.kubernetes.io/scw-loadbalancer-ip-ids',
    'service.beta.kubernetes.io/alibaba-cloud-loadbalancer-id',
    'service.kubernetes.io/tke-existed-lbid',
    'networking.gke.io/load-balancer-ip-addresses',
    'example.org/any',
  ])('a load balancer does not get %s', (key) => {
    expect(admits(defaultPlatformLists.loadBalancerAnnotations, key)).toBe(false);
  });

  it.each([
    'service.beta.kubernetes.io/aws-load-balancer-scheme',
    'service.beta.kubernetes.io/aws-load-balancer-type',
    'service.beta.kubernetes.io/aws-load-balancer-nlb-target-type',
    'service.beta.kubernetes.io/azure-load-balancer-internal',
    'service.beta.kubernetes.io/openstack-internal-load-balancer',
    'loadbalancer.openstack.org/proxy-protocol',
    'loadbalancer.openstack.org/floating-network-id',
    'loadbalancer.openstack.org/flavor-id',
    'loadbalancer.openstack.org/keep-floatingip',
    'load-balancer.hetzner.cloud/location',
    'load-balancer.hetzner.cloud/use-private-ip',
    'load-balancer.hetzner.cloud/type',
    'networking.gke.io/load-balancer-type',
    'metallb.universe.tf/address-pool',
    'metallb.io/address-pool',
  ])('a load balancer gets %s', (key) => {
    expect(admits(defaultPlatformLists.loadBalancerAnnotations, key)).toBe(true);
  });
});
