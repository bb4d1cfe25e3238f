import type { KubeObject } from '../kube/object.ts';

interface Workload extends KubeObject {
  readonly spec?: {
    readonly template?: {
      readonly spec?: { readonly containers?: readonly { readonly name: string; readonly args?: readonly string[] }[] };
    };
  };
}

/**
 * The arguments of the API servers of a Deployment, by name without dashes; undefined if it has none. Of one that
 * repeats, it is the last value.
 */
export function apiServerArguments(deployment: Workload | undefined): Readonly<Record<string, string>> | undefined {
  const args = namedArguments(deployment);
  return args && Object.fromEntries(args);
}

/** Every value of an argument of these API servers that repeats, in order. */
export function repeatedArgument(deployment: Workload | undefined, wanted: string): readonly string[] {
  return (namedArguments(deployment) ?? []).flatMap(([name, value]) => (name === wanted ? [value] : []));
}

function namedArguments(deployment: Workload | undefined): [name: string, value: string][] | undefined {
  const containers = deployment?.spec?.template?.spec?.containers;
  return containers?.find(({ name }) => name === 'kube-apiserver')?.args?.map(named);
}

/** `--name=value` */
function named(arg: string): [name: string, value: string] {
  const [name = '', ...value] = arg.replace(/^--/, '').split('=');
  return [name, value.join('=')];
}
