import { isIP } from 'node:net';
import { z } from 'zod';
import { withRules } from './validation-rule.ts';

const dnsName = '[a-z0-9]+((-+|[.])[a-z0-9]+)*';

/** Whether Kubernetes reads a text as an IP address: without a zone, and no IPv4 address in the form of an IPv6 one. */
export function isAddress(text: string): boolean {
  if (isIP(text) !== 6) return isIP(text) === 4;
  return !text.includes('%') && !/^\[::ffff:[^:]+:[^:]+\]$/.test(new URL(`http://[${text}]`).hostname);
}

/** Whether Kubernetes reads a text as a network. */
function isCIDR(text: string): boolean {
  const [address = '', bits = '', ...more] = text.split('/');
  const most = isIP(address) === 4 ? 32 : 128;
  return more.length === 0 && isAddress(address) && /^(0|[1-9][0-9]{0,2})$/.test(bits) && Number(bits) <= most;
}

/** A name of digits only at the end of a host would be an address that is misspelt. */
const endsWithNumber = '(^|[.])[0-9]+$';

/** A host that kubeadm accepts, and a browser and a resolver understand: an IP address, or a DNS name in lower case. */
export const host = () =>
  withRules(z.string().min(1).max(253), [
    {
      rule: `isIP(self) || (self.matches('^${dnsName}$') && !self.matches('${endsWithNumber}'))`,
      message:
        'is neither an IP address nor a DNS name in lower case: write it without scheme, port and spaces, such as api.example.org or 192.0.2.10',
      messageExpression:
        "'\"' + self + '\" is neither an IP address nor a DNS name in lower case: write it without scheme, port and spaces, such as api.example.org or 192.0.2.10'",
      holds: (text) =>
        isAddress(text) || (new RegExp(`^${dnsName}$`).test(text) && !new RegExp(endsWithNumber).test(text)),
    },
  ]);

/** A host that routers distinguish by its name. */
export const hostName = () =>
  withRules(
    z
      .string()
      .min(1)
      .max(253)
      .regex(new RegExp(`^${dnsName}$`), 'must be a DNS name in lower case'),
    [
      {
        rule: '!isIP(self)',
        message: 'is an IP address, which names no control plane: write a DNS name that resolves to it',
        holds: (text) => !isAddress(text),
      },
    ],
  );

const certificateName = '^([*][.])?[0-9A-Za-z]+((-+|[.])[0-9A-Za-z]+)*$';

/** A name that a serving certificate can have. */
export const subjectName = () =>
  withRules(z.string().min(1).max(253), [
    {
      rule: `isIP(self) || self.matches('${certificateName}')`,
      message:
        'is neither an IP address nor a DNS name, with or without *. before it: write it without scheme, port and spaces',
      messageExpression:
        "'\"' + self + '\" is neither an IP address nor a DNS name, with or without *. before it: write it without scheme, port and spaces'",
      holds: (text) => isAddress(text) || new RegExp(certificateName).test(text),
    },
  ]);

/** An address to ask for; none when empty. */
export const address = () =>
  withRules(z.string().max(45), [
    {
      rule: "self == '' || isIP(self)",
      message: 'must be an IP address such as 192.0.2.10 or 2001:db8::10',
      messageExpression: "'\"' + self + '\" is not an IP address: write one such as 192.0.2.10 or 2001:db8::10'",
      holds: (text) => text === '' || isAddress(text),
    },
  ]);

/** A network of either family. */
export const cidr = () =>
  withRules(z.string().max(49), [
    {
      rule: 'isCIDR(self)',
      message: 'must be a CIDR such as 192.0.2.0/24 or 2001:db8::/64',
      messageExpression: "'\"' + self + '\" is not a network: write a CIDR such as 192.0.2.0/24 or 2001:db8::/64'",
      holds: isCIDR,
    },
  ]);
