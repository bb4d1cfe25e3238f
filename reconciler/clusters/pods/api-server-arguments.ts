import type { KubeObject } from '../../kube/object.ts';

interface Container {
  readonly name: string;
  readonly image?: string;
  readonly args?: readonly string[];
}

/** The fields of the API servers' Deployment that say what they run. */
export interface ApiServerWorkload extends KubeObject {
  readonly spec?: {
    readonly template?: {
      readonly spec?: { readonly containers?: readonly Container[] };
    };
  };
}

/**
 * The arguments of the API servers of a Deployment, by name without dashes; undefined if it has none. Of one that
 * repeats, it is the last value.
 */
export function apiServerArguments(
  deployment: ApiServerWorkload | undefined,
): Readonly<Record<string, string>> | undefined {
  const args = namedArguments(deployment);
  return args && Object.fromEntries(args);
}

/** Every value of an argument of these API servers that repeats, in order. */
export function repeatedArgument(deployment: ApiServerWorkload | undefined, wanted: string): readonly string[] {
  return (namedArguments(deployment) ?? []).flatMap(([name, value]) => (name === wanted ? [value] : []));
}

function namedArguments(deployment: ApiServerWorkload | undefined): [name: string, value: string][] | undefined {
  return containerOf(deployment)?.args?.map(named);
}

/** The image of the API servers of a Deployment; undefined if it has none. */
export function apiServerImage(deployment: ApiServerWorkload | undefined): string | undefined {
  return containerOf(deployment)?.image;
}

function containerOf(deployment: ApiServerWorkload | undefined): Container | undefined {
  return deployment?.spec?.template?.spec?.containers?.find(({ name }) => name === 'kube-apiserver');
}

/** `--name=value` */
function named(arg: string): [name: string, value: string] {
  const [name = '', ...value] = arg.replace(/^--/, '').split('=');
  return [name, value.join('=')];
}
