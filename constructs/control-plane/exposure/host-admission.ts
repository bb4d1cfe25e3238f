import { admittedHostsAnnotation } from '../../api/group.ts';

/** The input for the decision whether a namespace may take a host behind a Gateway. */
export interface HostQuestion {
  readonly host: string;
  readonly namespace: string;
  /** Domain of the listener that serves the host. */
  readonly domain: string;
  /** Annotations of the Gateway. */
  readonly annotations: Readonly<Record<string, string>>;
  /** Whether the operator sees the claims of all namespaces. */
  readonly seesEveryClaim: boolean;
}

/**
 * Whether a namespace may take a host: one below its own name, which no other namespace can take, or one that the owner
 * of the Gateway admits. An operator that does not see all claims ignores what is admitted for every namespace, because
 * it cannot see which claim is older.
 */
export function admitsHost({ host, namespace, domain, annotations, seesEveryClaim }: HostQuestion): boolean {
  const name = host.toLowerCase();
  if (name.endsWith(`.${namespace}.${domain.toLowerCase()}`)) return true;
  return entriesOf(annotations[admittedHostsAnnotation] ?? '').some(
    (entry) =>
      (entry.namespace === namespace || (entry.namespace === '*' && seesEveryClaim)) && matches(entry.pattern, name),
  );
}

/** What to do about a host that is not admitted. */
export function howToAdmit({ host, namespace, domain }: Pick<HostQuestion, 'host' | 'namespace' | 'domain'>): string {
  return `create the control plane again with a host below ${namespace}.${domain}, or let the owner of the Gateway set its annotation ${admittedHostsAnnotation} to ${namespace}/${host}`;
}

function entriesOf(annotation: string): { namespace: string; pattern: string }[] {
  return annotation.split(/[\s,]+/).flatMap((entry) => {
    const [namespace, pattern, ...more] = entry.toLowerCase().split('/');
    return namespace && pattern && more.length === 0 ? [{ namespace, pattern }] : [];
  });
}

/** As for the listeners of a Gateway, a wildcard stands for any number of labels. */
function matches(pattern: string, name: string): boolean {
  if (pattern === '*') return true;
  return pattern.startsWith('*.') ? name.endsWith(pattern.slice(1)) : name === pattern;
}
