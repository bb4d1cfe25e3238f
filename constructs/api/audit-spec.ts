import { z } from 'zod';
import { container } from './container-spec.ts';
import { dataKey, namespaceName, objectName } from './object-name.ts';
import { withRules } from './validation-rule.ts';

const stages = z
  .array(
    z
      .enum(['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'])
      .describe('RequestReceived, ResponseStarted, ResponseComplete or Panic.'),
  )
  .max(4)
  .optional();
const strings = (item: string) => z.array(z.string().max(512).describe(item)).max(256).optional();

const rule = z
  .object({
    level: z.enum(['None', 'Metadata', 'Request', 'RequestResponse']).describe('Level of detail of the records.'),
    users: strings('User name.').describe('Users that the rule applies to; every user when empty.'),
    userGroups: strings('Group name.').describe('User groups that the rule applies to; every group when empty.'),
    verbs: strings('Verb, such as get or create.').describe('Verbs that the rule applies to; every verb when empty.'),
    resources: z
      .array(
        z
          .object({
            group: z.string().max(253).optional().describe('API group; the core group when empty.'),
            resources: strings('Resource, such as pods or pods/log.').describe(
              'Resources; all resources of the group when empty.',
            ),
            resourceNames: strings('Object name.').describe('Names of objects; all objects when empty.'),
          })
          .describe('Resources of one API group.'),
      )
      .max(128)
      .optional()
      .describe('Resources that the rule applies to; all resources when empty.'),
    namespaces: strings('Namespace; the empty name selects cluster-scoped objects.').describe(
      'Namespaces that the rule applies to; all namespaces when empty.',
    ),
    nonResourceURLs: strings('Path, such as /healthz*.').describe('Non-resource paths that the rule applies to.'),
    omitStages: stages.describe('Stages that are not recorded, in addition to the stages that the policy omits.'),
    omitManagedFields: z.boolean().optional().describe('Omit managed fields; takes precedence over the policy.'),
  })
  .describe('One rule. The first rule that matches a request sets the level of its records.');

const Policy = z.object({
  apiVersion: z
    .enum(['audit.k8s.io/v1'])
    .optional()
    .describe('API version of the policy. Accepted so that you can paste a policy file without changes.'),
  kind: z
    .enum(['Policy'])
    .optional()
    .describe('Kind of the policy. Accepted so that you can paste a policy file without changes.'),
  metadata: z
    .looseObject({})
    .optional()
    .describe('Ignored. Accepted so that you can paste a policy file without changes.'),
  omitStages: stages.describe('Stages that are never recorded.'),
  omitManagedFields: z.boolean().optional().describe('Omit managed fields from recorded bodies.'),
  rules: z.array(rule).max(512).describe('Rules in order; the first rule that matches applies.'),
});

const target = withRules(
  z
    .object({
      server: z
        .url()
        .max(2048)
        .regex(
          /^https?:\/\/[^/?#@]+(\/[^?#]*)?$/,
          'must begin with http:// or https://, and has no user, query or fragment',
        )
        .describe('URL to which the records are posted, without user, query and fragment.'),
      certificateAuthority: z
        .string()
        .max(65536)
        .regex(/-{5}BEGIN CERTIFICATE-{5}/, 'must be certificates in PEM')
        .optional()
        .describe(
          'PEM certificates with which to verify the receiver; the roots of the image that sends the records when unset.',
        ),
      authentication: z
        .object({
          secretName: objectName().describe(
            'Name of the Secret that holds the bearer token, of type Opaque. Its annotation controlplane.cluster.x-k8s.io/audit-receivers names the host[:port] of server, among others.',
          ),
          secretNamespace: namespaceName()
            .optional()
            .describe(
              'Namespace of the Secret; the namespace of the HostedControlPlane when unset. A Secret in another namespace names the namespaces that may use it in the annotation controlplane.cluster.x-k8s.io/audit-access.',
            ),
          tokenKey: dataKey()
            .default('token')
            .describe('Key of the Secret that holds the token. A changed token is used without a restart.'),
        })
        .optional()
        .describe('Bearer token that is sent with every request; none when unset.'),
    })
    .describe('One receiver of audit records.'),
  [
    {
      rule: "!has(self.authentication) || self.server.startsWith('https://')",
      message:
        'a token is sent over https only, because programs on the way could read it: correct server, or remove authentication',
      fieldPath: '.server',
      holds: ({ server, authentication }) => !authentication || server.startsWith('https://'),
    },
  ],
);

/** What the API server records, and where it sends the records. */
export const Audit = z.object({
  policy: Policy.describe('Audit policy: a Policy of audit.k8s.io/v1.'),
  mode: z
    .enum(['batch', 'blocking', 'blocking-strict'])
    .default('batch')
    .describe(
      'How records are sent. batch: in the background. blocking: the API server answers a request only after it has sent the record. blocking-strict: it also rejects the request if that fails at the stage RequestReceived.',
    ),
  webhook: z
    .object({
      ...container,
      targets: z.array(target).min(1).max(16).describe('Receivers. Every receiver gets every record.'),
    })
    .optional()
    .describe(
      'Send records to HTTP receivers instead of the log of the API server. The container settings apply to the sidecar that serves several targets.',
    ),
});
export type Audit = z.output<typeof Audit>;
export type AuditPolicy = z.output<typeof Policy>;
export type AuditTargetSpec = z.output<typeof target>;
