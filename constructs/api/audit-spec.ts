import { z } from 'zod';
import { container } from './container-spec.ts';

const stages = z.array(z.string().describe('RequestReceived, ResponseStarted, ResponseComplete or Panic.')).optional();
const strings = (item: string) => z.array(z.string().describe(item)).optional();

const rule = z
  .object({
    level: z.enum(['None', 'Metadata', 'Request', 'RequestResponse']).describe('How much is recorded.'),
    users: strings('User name.').describe('Users the rule applies to; every user when empty.'),
    userGroups: strings('Group name.').describe('Groups the rule applies to; every group when empty.'),
    verbs: strings('Verb, such as get or create.').describe('Verbs the rule applies to; every verb when empty.'),
    resources: z
      .array(
        z
          .object({
            group: z.string().optional().describe('API group; the core group when empty.'),
            resources: strings('Resource, such as pods or pods/log.').describe(
              'Resources; all of the group when empty.',
            ),
            resourceNames: strings('Object name.').describe('Names of single objects; all objects when empty.'),
          })
          .describe('Resources of one API group.'),
      )
      .optional()
      .describe('Resources the rule applies to; everything when empty.'),
    namespaces: strings('Namespace; the empty name stands for cluster-wide objects.').describe(
      'Namespaces the rule applies to; all when empty.',
    ),
    nonResourceURLs: strings('Path, such as /healthz*.').describe('Paths that are no resources the rule applies to.'),
    omitStages: stages.describe('Stages that are not recorded, besides those of the policy.'),
    omitManagedFields: z.boolean().optional().describe('Leave managed fields out; overrides the policy.'),
  })
  .describe('The first rule that matches a request decides how much of it is recorded.');

const Policy = z.object({
  apiVersion: z.string().optional().describe('audit.k8s.io/v1.'),
  kind: z.string().optional().describe('Policy.'),
  metadata: z.looseObject({}).optional().describe('Ignored; here so that a policy file can be pasted unmodified.'),
  omitStages: stages.describe('Stages that are never recorded.'),
  omitManagedFields: z.boolean().optional().describe('Leave managed fields out of recorded bodies.'),
  rules: z.array(rule).describe('Rules in order; the first match wins.'),
});

const target = z
  .object({
    server: z.url().max(2048).describe('URL the records are posted to.'),
    authentication: z
      .object({
        secretName: z.string().min(1).max(253).describe('Name of the Secret that holds the bearer token.'),
        secretNamespace: z
          .string()
          .max(63)
          .optional()
          .describe(
            'Namespace of the Secret. The one of the HostedControlPlane when unset; another one has to grant access by a label on the Secret.',
          ),
        tokenKey: z.string().max(253).default('token').describe('Key of the Secret that holds the token.'),
      })
      .optional()
      .describe('Bearer token sent with every request; none when unset.'),
  })
  .describe('One receiver of audit records.');

/** What the API server records, and where it sends the records. */
export const Audit = z.object({
  policy: Policy.describe('What is recorded: a Policy of audit.k8s.io/v1.'),
  mode: z
    .enum(['batch', 'blocking', 'blocking-strict'])
    .default('batch')
    .describe(
      'batch sends records in the background; blocking answers a request only after its record was sent; blocking-strict refuses the request if that fails.',
    ),
  webhook: z
    .object({
      ...container,
      targets: z.array(target).min(1).max(16).describe('Receivers; each of them gets every record.'),
    })
    .optional()
    .describe(
      'Send records to HTTP receivers instead of the log of the API server. The container settings are those of the sidecar that serves several targets.',
    ),
});
export type Audit = z.output<typeof Audit>;
