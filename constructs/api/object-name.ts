import { z } from 'zod';

/** The name of an object of Kubernetes, such as that of a class: a DNS name in lower case. */
export const objectName = (longest = 253) =>
  z
    .string()
    .max(longest)
    .regex(
      /^[a-z0-9]+((-+|[.])[a-z0-9]+)*$/,
      'must be the name of an object: lower-case letters, digits, dashes and dots, and a letter or digit at both ends',
    );

/** The name of a namespace: one label of a DNS name. */
export const namespaceName = () =>
  z
    .string()
    .max(63)
    .regex(
      /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/,
      'must be the name of a namespace: lower-case letters, digits and dashes, and a letter or digit at both ends',
    );

/** The key of a Secret or a ConfigMap. */
export const dataKey = () =>
  z
    .string()
    .min(1)
    .max(253)
    .regex(
      /^[-._a-zA-Z0-9]+$/,
      'must be a key of a ConfigMap or Secret: letters, digits, dashes, dots and underscores',
    );
