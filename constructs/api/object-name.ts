import { z } from 'zod';

/** The name of an object of Kubernetes, such as that of a class: a DNS name in lower case. */
export const objectName = () =>
  z
    .string()
    .max(253)
    .regex(
      /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
      'must be the name of an object: lower-case letters, digits, dashes and dots, and a letter or digit at both ends',
    );
