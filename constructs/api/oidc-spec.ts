import { z } from 'zod';
import { withRules } from './validation-rule.ts';

const provider = z
  .object({
    certificateAuthority: z
      .string()
      .max(65536)
      .regex(/^$|-{5}BEGIN CERTIFICATE-{5}/, 'must be certificates in PEM')
      .optional()
      .describe(
        'PEM certificates with which to verify the issuer; the system roots of the API server image when unset.',
      ),
    audiences: z
      .array(z.string().min(1).max(253).describe('One audience.'))
      .min(1)
      .max(64)
      .describe('A token must carry one of these audiences.'),
    claimValidationRules: z
      .array(
        z
          .object({
            expression: z.string().min(1).max(4096).describe('CEL expression over claims that must evaluate to true.'),
            message: z
              .string()
              .max(1024)
              .optional()
              .describe('Message that is shown when the expression evaluates to false.'),
          })
          .describe('One rule for the claims of a token.'),
      )
      .max(64)
      .optional()
      .describe('Rules that a token must meet to be accepted.'),
    claimMappings: z
      .object({
        username: z.string().min(1).max(4096).describe('CEL expression over claims that evaluates to the user name.'),
        groups: z
          .string()
          .max(4096)
          .optional()
          .describe('CEL expression over claims that evaluates to the groups; none when unset.'),
      })
      .describe('Mapping from the claims of a token to a user.'),
  })
  .describe('One token issuer.');

const issuerURL = '^https://[^/?#@ ]+(/[^?# ]*)?$';

/** Token issuers that the hosted API server trusts, by issuer URL. */
export const OIDCProviders = withRules(z.record(z.string().max(512), provider).meta({ maxProperties: 64 }), [
  {
    rule: `self.all(url, size(url) <= 512 && url.matches('${issuerURL}'))`,
    message: 'an issuer is an https URL without user, query and fragment, such as https://issuer.example.org',
    holds: (providers) => Object.keys(providers).every((url) => new RegExp(issuerURL).test(url)),
  },
]);
