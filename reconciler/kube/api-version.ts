/**
 * Orders versions by the preference of Kubernetes: v2, v1, v1beta2, v1beta1, v1alpha1, and then versions of another
 * form.
 */
export function compareApiVersions(a: string, b: string): number {
  const [left, right] = [parse(a), parse(b)];
  if (!left || !right) return left || right ? (left ? -1 : 1) : compareTexts(a, b);
  return right.stability - left.stability || right.major - left.major || right.minor - left.minor;
}

const stabilities = ['alpha', 'beta'];

function parse(version: string): { major: number; stability: number; minor: number } | undefined {
  const [, major, stability, minor] = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version) ?? [];
  if (major === undefined) return undefined;
  const rank = stability === undefined ? stabilities.length : stabilities.indexOf(stability);
  return { major: Number(major), stability: rank, minor: Number(minor ?? 0) };
}

function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
