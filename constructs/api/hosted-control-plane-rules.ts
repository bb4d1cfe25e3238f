import { exposuresOf, type ExposureSource } from './exposure-spec.ts';
import type { InClusterAccessSource } from './in-cluster-access-spec.ts';
import { skipsNoMinor } from './kubernetes-version.ts';
import type { ValidationRule } from './validation-rule.ts';

const has = (self: string, way: string) => `(has(${self}.exposure) && has(${self}.exposure.${way}))`;
const counted = (present: string) => `(${present} ? 1 : 0)`;

const exposures = [
  counted('has(self.gateway)'),
  ...['gateway', 'ingress', 'loadBalancer', 'nodePort'].map((way) => counted(has('self', way))),
].join(' + ');

/** A control plane without a way in is useless, and with two the endpoint would be a matter of luck. */
export const exactlyOneExposure: ValidationRule<ExposureSource> = {
  rule: `${exposures} == 1`,
  message:
    'exactly one way in is needed: set gateway, or one of exposure.gateway, exposure.ingress, exposure.loadBalancer and exposure.nodePort',
  holds: (spec) => exposuresOf(spec).length === 1,
};

/** A node port has no load balancer beside it: a Service is of one type. */
export const noLoadBalancerBesideNodePort: ValidationRule<ExposureSource & InClusterAccessSource> = {
  rule: `!(has(self.inClusterAccess) && self.inClusterAccess == 'LoadBalancer' && ${has('self', 'nodePort')})`,
  message:
    'inClusterAccess LoadBalancer cannot be had with exposure.nodePort: leave inClusterAccess out, or choose Policy or Proxy',
  fieldPath: '.inClusterAccess',
  holds: (spec) => !(spec.inClusterAccess === 'LoadBalancer' && spec.exposure?.nodePort),
};

/** In a template the way in may still be missing; patches of a ClusterClass add it. */
export const atMostOneExposure: ValidationRule<ExposureSource> = {
  rule: `${exposures} <= 1`,
  message:
    'several ways in are set: keep one of gateway, exposure.gateway, exposure.ingress, exposure.loadBalancer and exposure.nodePort',
  holds: (spec) => exposuresOf(spec).length <= 1,
};

const hasGateway = (self: string) => `(has(${self}.gateway) || ${has(self, 'gateway')})`;

const etcdMinor = (self: string) => `int(${self}.etcd.version.split('.')[1])`;

const sameEtcdMinorOrNext = `!has(self.etcd.version) || !has(oldSelf.etcd.version) || (${etcdMinor('self')} >= ${etcdMinor('oldSelf')} && ${etcdMinor('self')} <= ${etcdMinor('oldSelf')} + 1)`;

const bytes = (size: string) => `quantity(string(${size}))`;
const fixedSize = (self: string) => `!${self}.etcd.autoGrow && has(${self}.etcd.volumeSize)`;

/** What may not change, or only in one direction. They compare the whole spec because most of it is optional. */
export const updateRules: readonly ValidationRule<ExposureSource>[] = [
  {
    rule: '!has(oldSelf.controlPlaneEndpoint) || (has(self.controlPlaneEndpoint) && (!has(oldSelf.controlPlaneEndpoint.host) || (has(self.controlPlaneEndpoint.host) && self.controlPlaneEndpoint.host == oldSelf.controlPlaneEndpoint.host)) && (!has(oldSelf.controlPlaneEndpoint.port) || (has(self.controlPlaneEndpoint.port) && self.controlPlaneEndpoint.port == oldSelf.controlPlaneEndpoint.port)))',
    message:
      'controlPlaneEndpoint cannot change once it is set, because workers and certificates hold it: restore the previous value',
    fieldPath: '.controlPlaneEndpoint',
  },
  {
    rule: `!has(oldSelf.controlPlaneEndpoint) || (${hasGateway('self')} == ${hasGateway('oldSelf')} && ${has('self', 'ingress')} == ${has('oldSelf', 'ingress')} && ${has('self', 'loadBalancer')} == ${has('oldSelf', 'loadBalancer')} && ${has('self', 'nodePort')} == ${has('oldSelf', 'nodePort')})`,
    message:
      'the way in cannot be exchanged for another kind once the endpoint is set, because the endpoint would change: restore the previous one',
    fieldPath: '.exposure',
  },
  {
    rule: 'has(self.etcd.storageClassName) == has(oldSelf.etcd.storageClassName) && (!has(self.etcd.storageClassName) || self.etcd.storageClassName == oldSelf.etcd.storageClassName)',
    message: 'etcd.storageClassName cannot change: the volumes keep the class they were made with',
    fieldPath: '.etcd.storageClassName',
  },
  {
    rule: sameEtcdMinorOrNext,
    message:
      'etcd.version cannot go to a lower minor and can rise by one minor at a time only: etcd would refuse its own data',
    fieldPath: '.etcd.version',
  },
  {
    rule: `!(${fixedSize('self')} && ${fixedSize('oldSelf')}) || ${bytes('self.etcd.volumeSize')}.compareTo(${bytes('oldSelf.etcd.volumeSize')}) >= 0`,
    message: 'etcd.volumeSize cannot shrink: volumes only grow',
    messageExpression:
      "'etcd.volumeSize cannot shrink from ' + string(oldSelf.etcd.volumeSize) + ' to ' + string(self.etcd.volumeSize) + ': volumes only grow'",
    fieldPath: '.etcd.volumeSize',
  },
];

/**
 * Rules that need name or status. Those that compare with status look only at changed fields: everybody's update, and
 * the removal of the finalizer, runs through them.
 */
export const objectRules: readonly ValidationRule<unknown>[] = [
  {
    rule: 'oldSelf.hasValue() || size(self.metadata.name) <= 63',
    message:
      'metadata.name must have at most 63 characters, because it is used as a label value: choose a shorter name',
    optionalOldSelf: true,
  },
  {
    rule: `self.spec.version == oldSelf.spec.version || !has(oldSelf.status) || !has(oldSelf.status.version) || ${skipsNoMinor('oldSelf.status.version', 'self.spec.version')}`,
    message: 'spec.version is more than one minor ahead of the API servers that still run: wait for the upgrade before',
    messageExpression:
      "'spec.version ' + self.spec.version + ' is more than one minor ahead of ' + oldSelf.status.version + ', which still serves: wait until that upgrade is done'",
    fieldPath: '.spec.version',
  },
  {
    rule: `self.spec.etcd == oldSelf.spec.etcd || !(${fixedSize('self.spec')}) || !has(oldSelf.status) || !has(oldSelf.status.etcdVolumeSize) || ${bytes('self.spec.etcd.volumeSize')}.compareTo(${bytes('oldSelf.status.etcdVolumeSize')}) >= 0`,
    message: 'spec.etcd.volumeSize is smaller than the volumes have grown to: give at least status.etcdVolumeSize',
    messageExpression:
      "'spec.etcd.volumeSize ' + string(self.spec.etcd.volumeSize) + ' is smaller than the volumes, which have grown to ' + string(oldSelf.status.etcdVolumeSize) + ': give at least that'",
    fieldPath: '.spec.etcd.volumeSize',
  },
];
