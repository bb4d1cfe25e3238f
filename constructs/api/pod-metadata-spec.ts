import { z } from 'zod';
import { withRules } from './validation-rule.ts';

const most = 32;
const longestKey = 253;
/** All annotations of an object together have at most this many bytes. */
const longestAnnotation = 262_144;

/** A qualified name of Kubernetes: an optional DNS name and a slash, and a name of at most 63 characters. */
const qualifiedName = '^([a-z0-9]([-.a-z0-9]*[a-z0-9])?/)?[A-Za-z0-9]([-\\w.]{0,61}[A-Za-z0-9])?$';

const dnsName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** A map with such a key is no plain object to cdk8s, which refuses to render it. */
const unrendered = 'constructor';

/** The same as `format.qualifiedName()` of CEL, and not {@link unrendered}. */
function isQualifiedName(text: string): boolean {
  if (text === unrendered) return false;
  const [domain = ''] = text.includes('/') ? text.split('/') : ['a'];
  return new RegExp(qualifiedName).test(text) && domain.length <= longestKey && dnsName.test(domain);
}

/** Labels by which the operator, Services and network policies find pods, and those that Kubernetes sets itself. */
export const reservedLabel =
  '^(app[.]kubernetes[.]io/(component|managed-by|name)|k8s-app|pod-template-(hash|generation)|controller-revision-hash|(apps|statefulset)[.]kubernetes[.]io/.*|([-a-z0-9.]+[.])?cluster[.]x-k8s[.]io/.*)$';

/**
 * Annotations of the operator; those by which a pod leaves the `restricted` Pod Security Standard; and those by which it
 * joins networks that no network policy covers.
 */
export const reservedAnnotation =
  '^(([-a-z0-9.]+[.])?cluster[.]x-k8s[.]io/|container[.](apparmor[.]security[.]beta|seccomp[.]security[.]alpha)[.]kubernetes[.]io/|seccomp[.]security[.]alpha[.]kubernetes[.]io/|k8s[.]v1[.]cni[.]cncf[.]io/|v1[.]multus-cni[.]io/)';

const keys = (what: string) => ({
  rule: `self.all(key, key != '${unrendered}' && !format.qualifiedName().validate(key).hasValue())`,
  message: `is not the key of ${what}: write one such as team or example.org/team`,
  holds: (given: Readonly<Record<string, string>>) => Object.keys(given).every(isQualifiedName),
});

const unreserved = (what: string, reserved: string, because: string) => ({
  rule: `self.all(key, !key.matches('${reserved}'))`,
  message: `a reserved ${what} cannot be set, because ${because}: remove it`,
  messageExpression: `'the ${what} "' + self.filter(key, key.matches('${reserved}'))[0] + '" cannot be set, because ${because}: remove it'`,
  holds: (given: Readonly<Record<string, string>>) =>
    Object.keys(given).every((key) => !new RegExp(reserved).test(key)),
});

/** The value of a label. */
export const labelValue = () =>
  z
    .string()
    .max(63)
    .regex(
      /^(([A-Za-z0-9][-\w.]*)?[A-Za-z0-9])?$/,
      'must be the value of a label: letters, digits, dashes, dots and underscores, and a letter or digit at both ends',
    );

/** The key of a label. */
export const labelKey = (otherwise = 'must be the key of a label, such as disktype or topology.kubernetes.io/zone') =>
  z
    .string()
    .min(1)
    .max(longestKey)
    .regex(new RegExp(qualifiedName.replace('/)?', '[/])?')), otherwise);

/** Labels that select something: of nodes, or of pods. */
export const labelSet = () =>
  withRules(z.record(z.string(), labelValue().describe('Value.')).meta({ maxProperties: most }), [keys('a label')]);

/** Annotations of one object. */
export const annotationSet = () =>
  withRules(z.record(z.string(), z.string().max(longestAnnotation).describe('Value.')).meta({ maxProperties: 64 }), [
    {
      // The API server ignores the case of letters here, unlike in labels.
      rule: `self.all(key, key != '${unrendered}' && !format.qualifiedName().validate(key.lowerAscii()).hasValue())`,
      message: 'is not the key of an annotation: write one such as team or example.org/team',
      holds: (given) => Object.keys(given).every((key) => key !== unrendered && isQualifiedName(key.toLowerCase())),
    },
  ]);

/** Additional labels of pods. */
export const PodLabels = withRules(
  z.record(z.string(), labelValue().describe('Value of the label.')).meta({ maxProperties: most }),
  [
    keys('a label'),
    unreserved('label', reservedLabel, 'the operator, Services, network policies or Kubernetes find pods by it'),
  ],
);

/** Additional annotations of pods. */
export const PodAnnotations = withRules(
  z.record(z.string(), z.string().max(4096).describe('Value of the annotation.')).meta({ maxProperties: most }),
  [
    keys('an annotation'),
    unreserved(
      'annotation',
      reservedAnnotation,
      'it belongs to the operator, or takes the pod out of the restricted Pod Security Standard or of its network policies',
    ),
  ],
);
