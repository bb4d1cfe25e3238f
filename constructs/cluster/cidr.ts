import { BlockList, isIP } from 'node:net';

/**
 * The n-th address of a network: 1 of `10.96.0.0/12` is `10.96.0.1`, which Kubernetes uses for its own Service.
 * @throws when `cidr` is not an IPv4 or IPv6 network.
 */
export function addressAt(cidr: string, n: number): string {
  const [address = '', prefix = ''] = cidr.split('/');
  const family = isIP(address);
  const bits = family === 4 ? 32 : 128;
  if (family === 0 || !/^\d+$/.test(prefix) || Number(prefix) > bits) {
    throw new Error(`"${cidr}" is not a network such as 10.96.0.0/12 or fd00:10:96::/112`);
  }
  const host = BigInt(bits - Number(prefix));
  const network = (toNumber(address, family) >> host) << host;
  return family === 4 ? toIPv4(network + BigInt(n)) : toIPv6(network + BigInt(n));
}

function toNumber(address: string, family: number): bigint {
  const groups = family === 4 ? address.split('.').map(Number) : expand(address);
  const width = family === 4 ? 8n : 16n;
  return groups.reduce((sum, group) => (sum << width) + BigInt(group), 0n);
}

function expand(address: string): number[] {
  const [head = '', tail] = address.split('::');
  const parse = (part: string) => (part === '' ? [] : part.split(':').map((group) => parseInt(group, 16)));
  if (tail === undefined) return parse(head);
  const left = parse(head);
  const right = parse(tail);
  return [...left, ...Array.from({ length: 8 - left.length - right.length }, () => 0), ...right];
}

function toIPv4(value: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => String((value >> shift) & 255n)).join('.');
}

/** The URL parser converts an IPv6 address to its canonical, shortest form. */
function toIPv6(value: bigint): string {
  const groups = Array.from({ length: 8 }, (_, i) => ((value >> BigInt(16 * (7 - i))) & 0xffffn).toString(16));
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}

/** All addresses of both families without those of some networks, as Kubernetes and Cilium write it. */
export function everyFamily(except: readonly string[]): { cidr: string; except?: string[] }[] {
  const without = (cidr: string, networks: string[]) => (networks.length === 0 ? { cidr } : { cidr, except: networks });
  return [
    without(
      '0.0.0.0/0',
      except.filter((network) => !network.includes(':')),
    ),
    without(
      '::/0',
      except.filter((network) => network.includes(':')),
    ),
  ];
}

/** A network as numbers. */
interface Range {
  readonly family: number;
  readonly bits: number;
  readonly prefix: number;
  readonly first: bigint;
}

/** @param cidr one for which {@link isNetwork} holds */
function rangeOf(cidr: string): Range {
  const [address = '', prefix = ''] = cidr.split('/');
  const family = isIP(address);
  const bits = family === 4 ? 32 : 128;
  const host = BigInt(bits - Number(prefix));
  return { family, bits, prefix: Number(prefix), first: (toNumber(address, family) >> host) << host };
}

function textOf({ family, prefix, first }: Range): string {
  return `${family === 4 ? toIPv4(first) : toIPv6(first)}/${prefix}`;
}

/** The network of this prefix that a range is in; the range itself if it is no smaller. */
function widened(range: Range, prefix: number): Range {
  if (prefix >= range.prefix) return range;
  const host = BigInt(range.bits - prefix);
  return { ...range, prefix, first: (range.first >> host) << host };
}

const isSame = (one: Range, other: Range) =>
  one.family === other.family && one.prefix === other.prefix && one.first === other.first;

function contains(outer: Range, inner: Range): boolean {
  return outer.family === inner.family && outer.prefix <= inner.prefix && isSame(widened(inner, outer.prefix), outer);
}

/** The fewest networks with exactly the addresses of these, sorted. @param cidrs those for which {@link isNetwork} holds */
export function fewestNetworks(cidrs: readonly string[]): string[] {
  const sorted = cidrs
    .map(rangeOf)
    .sort((a, b) => a.family - b.family || (a.first < b.first ? -1 : a.first > b.first ? 1 : a.prefix - b.prefix));
  const found: Range[] = [];
  for (const range of sorted) {
    const last = found.at(-1);
    if (last && contains(last, range)) continue;
    found.push(range);
    joinHalves(found);
  }
  return found.map(textOf).sort();
}

/** Joins the last two ranges while they are the halves of one. */
function joinHalves(ranges: Range[]): void {
  for (;;) {
    const [one, other] = ranges.slice(-2);
    if (!one || !other || one.prefix !== other.prefix || one.prefix <= 1) return;
    const whole = widened(one, one.prefix - 1);
    if (!contains(whole, other)) return;
    ranges.splice(-2, 2, whole);
  }
}

/**
 * For each network of such a prefix the smallest network with all of those that are in it: few networks, which stay as they are
 * while others are added between them.
 */
export function coverWithin(
  cidrs: readonly string[],
  prefixes: { readonly ipv4: number; readonly ipv6: number },
): string[] {
  const groups = Map.groupBy(cidrs.map(rangeOf), (range) =>
    textOf(widened(range, range.family === 4 ? prefixes.ipv4 : prefixes.ipv6)),
  );
  return [...groups.values()].map(([first, ...others]) => {
    if (!first) return '';
    const narrowest = others.reduce((cover, range) => {
      let wider = widened(cover, Math.min(cover.prefix, range.prefix));
      while (!contains(wider, range)) wider = widened(wider, wider.prefix - 1);
      return wider;
    }, first);
    return textOf(narrowest);
  });
}

/** A network of exactly this address. */
export function networkOfAddress(address: string): string {
  return `${address}/${address.includes(':') ? 128 : 32}`;
}

/** Whether a text is a network such as `10.0.0.0/8`, which is not all addresses of a family. */
export function isNetwork(text: string): boolean {
  const [address = '', prefix = '', ...more] = text.split('/');
  const family = isIP(address);
  const isPrefix = /^\d{1,3}$/.test(prefix) && Number(prefix) > 0 && Number(prefix) <= (family === 4 ? 32 : 128);
  return family !== 0 && isPrefix && more.length === 0;
}

/** Whether a network such as `10.0.0.0/8` has this address. */
export function isWithin(address: string, cidr: string): boolean {
  const family = (text: string) => (text.includes(':') ? 'ipv6' : 'ipv4');
  const [prefix = '', bits] = cidr.split('/');
  if (family(address) !== family(prefix)) return false;
  const list = new BlockList();
  list.addSubnet(prefix, Number(bits), family(prefix));
  return list.check(address, family(address));
}
