/**
 * What the platform lets control planes ask of its ingress controllers and load balancers: lists of patterns, see {@link
 * isPattern}. An annotation or a class can do more than to configure: it can take a host or an address of others, or add
 * directives to a proxy that all share.
 */
export interface PlatformLists {
  /** Keys of annotations of Ingresses and IngressRouteTCPs, besides {@link passthroughKeys}. */
  readonly ingressAnnotations: readonly string[];
  /** Keys of annotations of Services of type LoadBalancer. */
  readonly loadBalancerAnnotations: readonly string[];
  /** Classes of Ingresses. */
  readonly ingressClasses: readonly string[];
  /** Classes of Services of type LoadBalancer. */
  readonly loadBalancerClasses: readonly string[];
}

/** Without them an ingress controller does not pass TLS through. */
export const passthroughKeys: readonly string[] = [
  'haproxy-ingress.github.io/ssl-passthrough',
  'haproxy.org/ssl-passthrough',
  'ingress.kubernetes.io/ssl-passthrough',
  'nginx.ingress.kubernetes.io/ssl-passthrough',
];

/** The older way to name the class of an Ingress. */
export const classAnnotation = 'kubernetes.io/ingress.class';

/** Ends of keys by which a load balancer, address, name or certificate of others can be taken, at any cloud. */
const takingOthers = [
  '*balancer-id',
  '*lbid',
  '*/id',
  '*port-id',
  '*-ip-ids',
  '*name',
  '*name-ipv*',
  '*hostname*',
  '*dns*',
  '*ips',
  '*address',
  '*addresses',
  '*-ipv4',
  '*-ipv6',
  '*eip-*',
  '*shared*',
  '*sharing*',
  '*cert*',
  '*tls-container*',
  '*resource-group*',
  '*security-group*',
].map((pattern) => `!${pattern}`);

/** Lists of an operator whose platform sets none. */
export const defaultPlatformLists: PlatformLists = {
  ingressAnnotations: [
    'external-dns.alpha.kubernetes.io/target',
    'external-dns.alpha.kubernetes.io/ttl',
    'haproxy-ingress.github.io/timeout-*',
    'haproxy.org/timeout-*',
    'nginx.ingress.kubernetes.io/backend-protocol',
    'nginx.ingress.kubernetes.io/force-ssl-redirect',
    'nginx.ingress.kubernetes.io/ssl-redirect',
  ],
  loadBalancerAnnotations: [
    'cloud.google.com/*',
    'external-dns.alpha.kubernetes.io/ttl',
    'load-balancer.hetzner.cloud/*',
    'loadbalancer.openstack.org/*',
    'loadbalancer.ovhcloud.com/*',
    'metallb.io/address-pool',
    'metallb.universe.tf/address-pool',
    'networking.gke.io/*',
    'oci.oraclecloud.com/*',
    'service.beta.kubernetes.io/*',
    'service.kubernetes.io/*',
    ...takingOthers,
  ],
  ingressClasses: ['*'],
  loadBalancerClasses: ['*'],
};

/** Whether a text is a pattern: with `*` at its ends only, and `!` before it if it takes away from what others admit. */
export function isPattern(text: string): boolean {
  return /^!?(\*|\*?[^*!\s,]+\*?)$/.test(text);
}

/** A pattern by its parts. */
export interface Pattern {
  readonly isExclusion: boolean;
  readonly match: 'any' | 'equals' | 'startsWith' | 'endsWith' | 'contains';
  /** In lower case, in which keys are compared. */
  readonly text: string;
}

/** @param pattern one for which {@link isPattern} holds */
export function patternOf(pattern: string): Pattern {
  const isExclusion = pattern.startsWith('!');
  const rest = (isExclusion ? pattern.slice(1) : pattern).toLowerCase();
  if (rest === '*') return { isExclusion, match: 'any', text: '' };
  const text = rest.replace(/^\*/, '').replace(/\*$/, '');
  const [isOpen, isClosed] = [rest.startsWith('*'), !rest.endsWith('*')];
  const match = isOpen ? (isClosed ? 'endsWith' : 'contains') : isClosed ? 'equals' : 'startsWith';
  return { isExclusion, match, text };
}

/** Whether a list has a pattern for a key, and none that takes it away. */
export function admits(list: readonly string[], key: string): boolean {
  const matching = list.map(patternOf).filter((pattern) => matches(pattern, key.toLowerCase()));
  return matching.length > 0 && !matching.some(({ isExclusion }) => isExclusion);
}

function matches({ match, text }: Pattern, key: string): boolean {
  switch (match) {
    case 'any':
      return true;
    case 'equals':
      return key === text;
    case 'startsWith':
      return key.startsWith(text);
    case 'endsWith':
      return key.endsWith(text);
    case 'contains':
      return key.includes(text);
  }
}

/** {@link admits} in CEL. @param key an expression that is the key */
export function admitsInCel(list: readonly string[], key: string): string {
  const patterns = list.map(patternOf);
  const any = (isExclusion: boolean) => {
    const chosen = patterns.filter((pattern) => pattern.isExclusion === isExclusion);
    if (chosen.some(({ match }) => match === 'any')) return 'true';
    const texts = (match: Pattern['match']) =>
      chosen.filter((pattern) => pattern.match === match).map(({ text }) => `'${text}'`);
    const equal = texts('equals');
    const checks = [
      ...(equal.length === 0 ? [] : [`${lower} in [${equal.join(', ')}]`]),
      ...(['startsWith', 'endsWith', 'contains'] as const).flatMap((match) =>
        texts(match).length === 0 ? [] : [`[${texts(match).join(', ')}].exists(one, ${lower}.${match}(one))`],
      ),
    ];
    return checks.length === 0 ? 'false' : `(${checks.join(' || ')})`;
  };
  const lower = `${key}.lowerAscii()`;
  return `(${any(false)} && !${any(true)})`;
}
