import { exposureKinds, exposuresOf, type ExposureSource } from './exposure-spec.ts';
import type { InClusterAccessSource } from './in-cluster-access-spec.ts';
import { firstMinorWith } from '../cluster/minors.ts';
import { isAtLeastMinor, notLowerMinor, skipsNoMinor } from './kubernetes-version.ts';
import type { ServiceAccountIssuer } from './service-account-issuer-spec.ts';
import type { ValidationRule } from './validation-rule.ts';

const has = (self: string, way: string) => `(has(${self}.exposure) && has(${self}.exposure.${way}))`;
const counted = (present: string) => `(${present} ? 1 : 0)`;

const exposures = [counted('has(self.gateway)'), ...exposureKinds.map((kind) => counted(has('self', kind)))].join(
  ' + ',
);

const exposureFields = new Intl.ListFormat('en-GB').format(exposureKinds.map((kind) => `exposure.${kind}`));

/** Without an exposure strategy nothing reaches the control plane; with two, its endpoint would be ambiguous. */
export const exactlyOneExposure: ValidationRule<ExposureSource> = {
  rule: `${exposures} == 1`,
  message: `exactly one exposure strategy is needed: set gateway, or one of ${exposureFields}`,
  holds: (spec) => exposuresOf(spec).length === 1,
};

/** With a node port there is no load balancer, because a Service has exactly one type. */
export const noLoadBalancerBesideNodePort: ValidationRule<ExposureSource & InClusterAccessSource> = {
  rule: `!(has(self.inClusterAccess) && self.inClusterAccess == 'LoadBalancer' && ${has('self', 'nodePort')})`,
  message:
    'inClusterAccess LoadBalancer cannot be combined with exposure.nodePort: remove inClusterAccess, or set it to Policy or Proxy',
  fieldPath: '.inClusterAccess',
  holds: (spec) => !(spec.inClusterAccess === 'LoadBalancer' && spec.exposure?.nodePort),
};

const names = { namespace: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', name: '^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$' };

/**
 * A template may have other names, which patches of a ClusterClass replace. `namespace` is a word of CEL, and escaped: otherwise the API
 * server estimates the rule without the length of the field, and refuses the CRD.
 */
export const gatewayNames: readonly ValidationRule<ExposureSource>[] = (['gateway', 'exposure.gateway'] as const).map(
  (field) => ({
    rule: `!(${field === 'gateway' ? 'has(self.gateway)' : has('self', 'gateway')}) || (self.${field}.__namespace__.matches('${names.namespace}') && self.${field}.name.matches('${names.name}'))`,
    message:
      'is no name and namespace of a Gateway: write lower-case letters, digits and dashes, with a letter or digit at both ends',
    fieldPath: `.${field}`,
    holds: ({ gateway, exposure }) => {
      const given = field === 'gateway' ? gateway : exposure?.gateway;
      return !given || (['namespace', 'name'] as const).every((part) => new RegExp(names[part]).test(given[part]));
    },
  }),
);

const policies = firstMinorWith('servesMutatingPolicies');

/** The API servers of earlier minors never become ready with it: they wait for policies that they do not serve. */
export const noPolicyBeforeItsMinor: ValidationRule<InClusterAccessSource & { readonly version: string }> = {
  rule: `!has(self.inClusterAccess) || self.inClusterAccess != 'Policy' || ${isAtLeastMinor('self.version', policies)} || (oldSelf.hasValue() && has(oldSelf.value().inClusterAccess) && oldSelf.value().inClusterAccess == 'Policy' && oldSelf.value().version == self.version)`,
  message: `inClusterAccess Policy needs Kubernetes 1.${policies} or newer: set inClusterAccess to Proxy, or remove it`,
  fieldPath: '.inClusterAccess',
  optionalOldSelf: true,
};

/** A template may lack the exposure strategy, because patches of a ClusterClass can add it. */
export const atMostOneExposure: ValidationRule<ExposureSource> = {
  rule: `${exposures} <= 1`,
  message: `more than one exposure strategy is set: keep one of gateway, ${exposureFields}`,
  holds: (spec) => exposuresOf(spec).length <= 1,
};

const issuers = 'self.serviceAccountIssuer';

interface IssuerSource {
  readonly oidcProviders?: Readonly<Record<string, unknown>> | undefined;
  readonly serviceAccountIssuer: ServiceAccountIssuer;
}

/** An API server accepts each issuer once: by the keys of service accounts, or by those that it discovers. */
export const noOwnTokenIssuer: ValidationRule<IssuerSource> = {
  rule: `!has(self.oidcProviders) || !has(${issuers}) || ((!has(${issuers}.issuer) || !(${issuers}.issuer in self.oidcProviders)) && (!has(${issuers}.acceptedIssuers) || !${issuers}.acceptedIssuers.exists(one, one in self.oidcProviders)))`,
  message:
    "oidcProviders has an issuer of serviceAccountIssuer, which issues tokens of the cluster's own service accounts: remove it from one of them",
  fieldPath: '.oidcProviders',
  holds: ({ oidcProviders = {}, serviceAccountIssuer: { issuer, acceptedIssuers = [] } }) =>
    ![issuer, ...acceptedIssuers].some((one) => one !== undefined && oidcProviders[one] !== undefined),
};

/** CEL: whether an exposure strategy is set, of which `gateway` is a shorthand of one. */
const isSet = (self: string, kind: string) =>
  kind === 'gateway' ? `(has(${self}.gateway) || ${has(self, kind)})` : has(self, kind);
const sameExposure = exposureKinds.map((kind) => `${isSet('self', kind)} == ${isSet('oldSelf', kind)}`).join(' && ');

const etcdMinor = (version: string) => `int(${version}.split('.')[1])`;

/** CEL: the old object has no such field in its status. */
const unreported = (...fields: readonly string[]) =>
  ['status', ...fields].map((_, depth, path) => `!has(oldSelf.${path.slice(0, depth + 1).join('.')})`).join(' || ');

/** CEL: an optional field of the spec is what it was. */
const unchanged = (field: string) =>
  `(has(self.spec.${field}) == has(oldSelf.spec.${field}) && (!has(self.spec.${field}) || self.spec.${field} == oldSelf.spec.${field}))`;

const sameEtcdMinorOrNext = `oldSelf.status.etcd.members.all(member, !has(member.version) || !member.version.matches('^v?3[.][0-9]') || (${etcdMinor('self.spec.etcd.version')} >= ${etcdMinor('member.version')} && ${etcdMinor('self.spec.etcd.version')} <= ${etcdMinor('member.version')} + 1))`;

const classIn = (self: string) => `${self}.exposure.loadBalancer.loadBalancerClass`;
const sameClass = `(has(${classIn('self')}) == has(${classIn('oldSelf')}) && (!has(${classIn('self')}) || ${classIn('self')} == ${classIn('oldSelf')}))`;

/** Kinds of which the endpoint has the port. */
const portIn = (self: string) =>
  ['loadBalancer', 'ingress', 'nodePort'].map((kind) => `${self}.exposure.?${kind}.?port`).join(', ');

const bytes = (size: string) => `quantity(string(${size}))`;
const isSize = (size: string) => `isQuantity(string(${size}))`;
const fixedSize = (self: string) => `!${self}.etcd.autoGrow && has(${self}.etcd.volumeSize)`;

/** Whether a spec names a token service. */
const hasTokenService = (spec: string): string => {
  const webIdentity = `${spec}.etcd.backup.webIdentity`;
  return `has(${spec}.etcd.backup) && has(${webIdentity}) && has(${webIdentity}.tokenServiceURL)`;
};

/**
 * Fields that cannot change, or only in one direction. The rules compare the whole spec because most fields are
 * optional.
 */
export const updateRules: readonly ValidationRule<ExposureSource>[] = [
  {
    rule: '!has(oldSelf.controlPlaneEndpoint) || (has(self.controlPlaneEndpoint) && (!has(oldSelf.controlPlaneEndpoint.host) || (has(self.controlPlaneEndpoint.host) && self.controlPlaneEndpoint.host == oldSelf.controlPlaneEndpoint.host)) && (!has(oldSelf.controlPlaneEndpoint.port) || (has(self.controlPlaneEndpoint.port) && self.controlPlaneEndpoint.port == oldSelf.controlPlaneEndpoint.port)))',
    message:
      'controlPlaneEndpoint cannot change once it is set, because workers and certificates contain it: restore the previous value',
    fieldPath: '.controlPlaneEndpoint',
  },
  {
    rule: `!has(oldSelf.controlPlaneEndpoint) || (${sameExposure})`,
    message:
      'the exposure strategy cannot change once the endpoint is set, because the endpoint would change: restore the previous exposure strategy',
    fieldPath: '.exposure',
  },
  {
    rule: `!has(oldSelf.controlPlaneEndpoint) || !${has('self', 'loadBalancer')} || !${has('oldSelf', 'loadBalancer')} || ${sameClass}`,
    message:
      'exposure.loadBalancer.loadBalancerClass cannot change once the endpoint is set, because Kubernetes lets no Service change it: restore the previous value',
    fieldPath: '.exposure.loadBalancer.loadBalancerClass',
  },
  {
    rule: `!has(self.controlPlaneEndpoint) || !has(self.controlPlaneEndpoint.port) || !has(self.exposure) || !has(oldSelf.exposure) || [${portIn('self')}] == [${portIn('oldSelf')}] || [${portIn('self')}].all(port, port.orValue(self.controlPlaneEndpoint.port) == self.controlPlaneEndpoint.port)`,
    message:
      'the port of the exposure cannot change once the endpoint is set, because workers connect to it: restore the port of controlPlaneEndpoint',
    fieldPath: '.exposure',
  },
  {
    rule: `!(${fixedSize('self')} && ${fixedSize('oldSelf')}) || !${isSize('self.etcd.volumeSize')} || !${isSize('oldSelf.etcd.volumeSize')} || ${bytes('self.etcd.volumeSize')}.compareTo(${bytes('oldSelf.etcd.volumeSize')}) >= 0`,
    message:
      'etcd.volumeSize cannot shrink, because volumes only grow: restore the previous size or choose a larger one',
    messageExpression:
      "'etcd.volumeSize cannot shrink from ' + string(oldSelf.etcd.volumeSize) + ' to ' + string(self.etcd.volumeSize) + ', because volumes only grow: restore the previous size or choose a larger one'",
    fieldPath: '.etcd.volumeSize',
  },
  {
    // A stored object keeps what it has: the operator sends no token there, and reports it.
    rule: `!(${hasTokenService('self')}) || self.etcd.backup.webIdentity.tokenServiceURL.startsWith('https://') || (oldSelf.hasValue() && ${hasTokenService('oldSelf.value()')} && oldSelf.value().etcd.backup.webIdentity.tokenServiceURL == self.etcd.backup.webIdentity.tokenServiceURL)`,
    message:
      'etcd.backup.webIdentity.tokenServiceURL must begin with https://, because programs on the way could read the token: correct it',
    fieldPath: '.etcd.backup.webIdentity.tokenServiceURL',
    optionalOldSelf: true,
  },
];

/** CEL: this write asks for the restore of a backup with a name, whose manifest says which version it is of. */
const restoresAnother = `has(self.spec.etcd.restore) && has(self.spec.etcd.restore.backup) && !self.spec.etcd.restore.backup.endsWith('.etcd') && !${unchanged('etcd.restore')}`;

const issuerField = 'serviceAccountIssuer.issuer';
const acceptedField = 'serviceAccountIssuer.acceptedIssuers';

/**
 * Rules that need name or status. The rules that read the status apply only when their field changes: every update runs
 * through them, also those by other clients and the removal of the finalizer. They compare with what runs, and not with
 * the spec before, so that what was only asked for and never ran can be taken back.
 */
export const objectRules: readonly ValidationRule<unknown>[] = [
  {
    rule: 'oldSelf.hasValue() || size(self.metadata.name) <= 63',
    message: 'metadata.name must have at most 63 characters, because it becomes a label value: choose a shorter name',
    optionalOldSelf: true,
  },
  {
    rule: `self.spec.version == oldSelf.spec.version || ${unreported('version')} || ${skipsNoMinor('oldSelf.status.version', 'self.spec.version')}`,
    message:
      'spec.version is more than one minor ahead of an API server that still runs: upgrade one minor at a time, and wait until the current upgrade is complete',
    messageExpression:
      "'spec.version ' + self.spec.version + ' is more than one minor ahead of ' + oldSelf.status.version + ', which an API server still runs: upgrade one minor at a time, and wait until the current upgrade is complete'",
    fieldPath: '.spec.version',
  },
  {
    // Neither may the restore be withdrawn alone on the way back.
    rule: `(self.spec.version == oldSelf.spec.version && ${unchanged('etcd.restore')}) || ${unreported('versions')} || oldSelf.status.versions.all(running, ${notLowerMinor('running.version', 'self.spec.version')}) || (${restoresAnother})`,
    message:
      'spec.version cannot go back to a minor below the minor of an API server that runs, because etcd contains objects that an older API server may not support: restore the previous version, or run hcp rollback, which also restores a backup from before the upgrade',
    messageExpression:
      "'spec.version cannot go back to ' + self.spec.version + ', because an API server runs ' + oldSelf.status.versions[size(oldSelf.status.versions) - 1].version + ' and etcd contains objects that an older API server may not support: restore the previous version, or run hcp rollback, which also restores a backup from before the upgrade'",
    fieldPath: '.spec.version',
  },
  {
    rule: `!has(self.spec.etcd.version) || ${unchanged('etcd.version')} || ${unreported('etcd', 'members')} || ${sameEtcdMinorOrNext}`,
    message:
      'spec.etcd.version must have the minor that every etcd member runs, or the next one, because etcd would refuse its own data: choose a version that follows those in status.etcd.members',
    fieldPath: '.spec.etcd.version',
  },
  {
    rule: `${unchanged('etcd.storageClassName')} || ${unreported('etcd', 'clusterID')}`,
    message:
      'spec.etcd.storageClassName cannot change once etcd has data, because volumes keep the class they were created with: restore the previous value',
    fieldPath: '.spec.etcd.storageClassName',
  },
  {
    // A second authenticator for it would be ambiguous. It is known once it is recorded.
    rule: `!has(self.spec.oidcProviders) || ${unreported('serviceAccountIssuer')} || !(oldSelf.status.serviceAccountIssuer in self.spec.oidcProviders) || (has(oldSelf.spec.oidcProviders) && oldSelf.status.serviceAccountIssuer in oldSelf.spec.oidcProviders)`,
    message:
      "spec.oidcProviders has the issuer of the hosted cluster's own service accounts, status.serviceAccountIssuer, which API servers refuse: remove it",
    fieldPath: '.spec.oidcProviders',
  },
  {
    // Otherwise every token would be refused that was signed until now.
    rule: `${unchanged('serviceAccountIssuer')} || !has(self.spec.${issuerField}) || ${unreported('serviceAccountIssuer')} || self.spec.${issuerField} == oldSelf.status.serviceAccountIssuer || (has(self.spec.${acceptedField}) && oldSelf.status.serviceAccountIssuer in self.spec.${acceptedField})`,
    message:
      'spec.serviceAccountIssuer.issuer changes, but acceptedIssuers lacks the present issuer, status.serviceAccountIssuer: add it, so that API servers accept the tokens of today until they expire',
    messageExpression:
      "'spec.serviceAccountIssuer.issuer changes, but acceptedIssuers lacks the present issuer, ' + oldSelf.status.serviceAccountIssuer + ': add it, so that API servers accept the tokens of today until they expire'",
    fieldPath: `.spec.${acceptedField}`,
  },
  {
    rule: `self.spec.etcd == oldSelf.spec.etcd || !(${fixedSize('self.spec')}) || ${unreported('etcdVolumeSize')} || ${bytes('self.spec.etcd.volumeSize')}.compareTo(${bytes('oldSelf.status.etcdVolumeSize')}) >= 0`,
    message:
      'spec.etcd.volumeSize is smaller than the volumes, which have grown: set it to at least status.etcdVolumeSize',
    messageExpression:
      "'spec.etcd.volumeSize ' + string(self.spec.etcd.volumeSize) + ' is smaller than the volumes, which have grown to ' + string(oldSelf.status.etcdVolumeSize) + ': set it to at least that size'",
    fieldPath: '.spec.etcd.volumeSize',
  },
];
