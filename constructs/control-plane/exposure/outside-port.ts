import { outsidePortAnnotation } from '../../api/group.ts';

/**
 * The port at which clients reach a listener of a Gateway, such as 443 of the load balancer before a Traefik that listens at 8443: what
 * the Gateway's owner says for it by name, or for all of them; otherwise its own port. Undefined if that is no port.
 */
export function outsidePort(
  { name, port }: { readonly name: string; readonly port: number },
  annotations: Readonly<Record<string, string>>,
): number | undefined {
  const entries = (annotations[outsidePortAnnotation] ?? '').split(/[\s,]+/).filter((entry) => entry !== '');
  const given = new Map(
    entries.map((entry) => {
      const [first = '', second, ...more] = entry.split('=');
      return second === undefined ? ['', first] : [first, more.length === 0 ? second : ''];
    }),
  );
  const text = given.get(name) ?? given.get('');
  if (text === undefined) return port;
  const outside = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return outside >= 1 && outside <= 65_535 ? outside : undefined;
}
