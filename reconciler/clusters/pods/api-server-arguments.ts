import type { Container, DeploymentObject } from '../../../imports/kubernetes.ts';

/**
 * The arguments of the API servers of a Deployment, by name without dashes; undefined if it has none. Of one that
 * repeats, it is the last value.
 */
export function apiServerArguments(
  deployment: DeploymentObject | undefined,
): Readonly<Record<string, string>> | undefined {
  const args = namedArguments(deployment);
  return args && Object.fromEntries(args);
}

/** Every value of an argument of these API servers that repeats, in order. */
export function repeatedArgument(deployment: DeploymentObject | undefined, wanted: string): readonly string[] {
  return (namedArguments(deployment) ?? []).flatMap(([name, value]) => (name === wanted ? [value] : []));
}

function namedArguments(deployment: DeploymentObject | undefined): [name: string, value: string][] | undefined {
  return containerOf(deployment)?.args?.map(named);
}

/** The image of the API servers of a Deployment; undefined if it has none. */
export function apiServerImage(deployment: DeploymentObject | undefined): string | undefined {
  return containerOf(deployment)?.image;
}

function containerOf(deployment: DeploymentObject | undefined): Container | undefined {
  return deployment?.spec?.template?.spec?.containers?.find(({ name }) => name === 'kube-apiserver');
}

/** `--name=value` */
function named(arg: string): [name: string, value: string] {
  const [name = '', ...value] = arg.replace(/^--/, '').split('=');
  return [name, value.join('=')];
}
