import { Secret, Service } from '../../constructs/api/resources.ts';
import type { HostedCluster } from '../../constructs/control-plane/cluster.ts';
import { wayIn } from '../../constructs/control-plane/exposure/exposure.ts';
import type { Endpoint } from '../../constructs/control-plane/facts.ts';
import { namesOf } from '../../constructs/control-plane/names.ts';
import type { ServiceObject } from '../service-object.ts';
import { issueCertificate, validFor } from '../pki/issue.ts';
import { apiServiceHost } from '../pki/plan.ts';
import { pairOf, type SecretObject } from '../pki/secret.ts';
import type { World } from '../scope.ts';
import type { HostedTarget } from './client.ts';

/**
 * How to reach a hosted cluster, from what the watches know. The Service is dialled by its address, so that it works
 * without cluster DNS too, and its name is verified all the same.
 * @throws when something of it is missing, which the phases before have made sure of.
 */
export function hostedTarget(cluster: HostedCluster, endpoint: Endpoint, world: World, now: Date): HostedTarget {
  const names = namesOf(cluster.name);
  const secret = (name: string) => world.get<SecretObject>(Secret, name);
  const address = world.get<ServiceObject>(Service, names.apiService)?.spec?.clusterIP;
  const authority = pairOf(secret(names.secrets.clusterAuthority));
  const controller = pairOf(secret(names.secrets.controller));
  if (!address || !authority || !controller) {
    throw new Error(`Service ${names.apiService} or a Secret of cluster ${cluster.name} is gone again`);
  }
  return {
    service: { host: address, port: wayIn(cluster.spec).service.apiPorts.api },
    serverName: apiServiceHost(cluster),
    endpoint,
    authority: authority.certificate,
    controller,
    admin: () => issueCertificate(administrator, authority, validFor(adminLifetimeMs, now)),
  };
}

/** Never stored: whoever holds the cluster's authority can make one, and we do for the few calls that need it. */
const administrator = {
  commonName: 'hosted-control-plane-bootstrap',
  organizations: ['system:masters'],
  usages: ['client'],
  hosts: [],
} as const;
const adminLifetimeMs = 10 * 60_000;
