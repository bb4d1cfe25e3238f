import { BlockList } from 'node:net';

/** Returns whether an address is in a network such as `10.0.0.0/8`; one of the other family never is. */
export function network(cidr: string): (address: string, family: 'ipv4' | 'ipv6') => boolean {
  const [prefix = '', bits] = cidr.split('/');
  const own = prefix.includes(':') ? 'ipv6' : 'ipv4';
  const list = new BlockList();
  list.addSubnet(prefix, Number(bits), own);
  return (address, family) => family === own && list.check(address, family);
}

/** The same for a network without some others. */
export function networkWithout({
  cidr,
  except = [],
}: {
  readonly cidr: string;
  readonly except?: readonly string[] | undefined;
}) {
  const whole = network(cidr);
  const excluded = except.map(network);
  return (address: string, family: 'ipv4' | 'ipv6'): boolean =>
    whole(address, family) && !excluded.some((one) => one(address, family));
}

/** Whether labels satisfy every label of a selector; the empty one selects everything. */
export function hasLabels(
  labels: Readonly<Record<string, string>>,
  wanted: Readonly<Record<string, string>> = {},
): boolean {
  return Object.entries(wanted).every(([key, value]) => labels[key] === value);
}
