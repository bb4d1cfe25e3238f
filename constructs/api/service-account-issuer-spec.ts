import { z } from 'zod';

/** Every such text is a URL that an API server can parse. */
const url = /^https:\/\/([0-9A-Za-z.-]+|\[[0-9a-fA-F:]+\])(:[0-9]{1,5})?(\/[0-9A-Za-z._~/-]*)?$/;
/** An API server wants a URL from what contains a colon, and takes every other text. */
const urlOrText = /^([^\s:,]+|https?:\/\/([0-9A-Za-z.-]+|\[[0-9a-fA-F:]+\])(:[0-9]{1,5})?(\/[0-9A-Za-z._~/-]*)?)$/;

/** Who signs the tokens of the hosted cluster's service accounts. */
export const ServiceAccountIssuer = z.object({
  issuer: z
    .string()
    .max(512)
    .regex(url, 'must be an https URL without query, such as https://api.example.org')
    .optional()
    .describe(
      'Issuer of the tokens. When unset, a new control plane has the URL of its endpoint, and an existing one keeps its issuer. A change needs the former issuer in acceptedIssuers. It restarts every API server twice: all accept the new issuer before the first one signs with it.',
    ),
  acceptedIssuers: z
    .array(
      z
        .string()
        .min(1)
        .max(512)
        .regex(urlOrText, 'must be a URL without query, or a text without colon, comma and space')
        .describe('One issuer.'),
    )
    .max(16)
    .optional()
    .describe(
      'Further issuers whose tokens API servers accept, if a service account key of this cluster has signed them. Remove an issuer once its tokens have expired: a year after it signed the last one, unless deployment.apiServer.args changes their lifetime.',
    ),
});
export type ServiceAccountIssuer = z.output<typeof ServiceAccountIssuer>;
