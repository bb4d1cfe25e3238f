import { createPublicKey, type KeyObject } from 'node:crypto';
import { durationSeconds } from '../../constructs/api/duration.ts';
import { longestName, mostGroups } from '../../constructs/api/kubeconfig-spec.ts';
import { kubeconfigLifetimes, kubeconfigUsages } from '../../constructs/api/kubeconfig-request.ts';
import { isReserved, reservedPrefix } from '../../constructs/api/reserved-names.ts';
import { firstMatch } from '../engine/first-match.ts';
import { longestRequest } from '../pki/certificate-signing-request.ts';
import { contentOf, type RequestContent } from '../pki/request-content.ts';
import type { ClientCertificateRequest } from './request.ts';

/** What a request asks for. */
export interface RequestedCertificate {
  readonly user: string;
  readonly groups: readonly string[];
  readonly lifetimeMs: number;
  /** DER. */
  readonly publicKey: Buffer;
  /** Whether user name and groups are those of the requester. */
  readonly isOwn: boolean;
}

/** What a request asks for, or why the operator refuses it to every requester. */
export function readRequestedCertificate(
  request: ClientCertificateRequest,
): RequestedCertificate | { readonly objection: string } {
  const content = contentOf(request);
  if (!content) {
    const isLong = request.spec.request === '';
    return { objection: isLong ? `is longer than ${longestRequest / 1024} KiB` : 'is not a readable PKCS #10 request' };
  }
  const objection = firstMatch(checks, { request, content });
  if (objection !== undefined) return { objection };
  const [user = ''] = partsOf(content, 'CN');
  const groups = partsOf(content, 'O');
  const { username, groups: own = [], expirationSeconds } = request.spec;
  return {
    user,
    groups,
    lifetimeMs: (expirationSeconds ?? durationSeconds(kubeconfigLifetimes.unset)) * 1000,
    publicKey: content.publicKey,
    isOwn: user === username && groups.every((group) => own.includes(group)),
  };
}

type Check = (question: {
  readonly request: ClientCertificateRequest;
  readonly content: RequestContent;
}) => string | undefined;

const checks: readonly Check[] = [
  function namesOneUser({ content }) {
    const names = partsOf(content, 'CN');
    return names.length === 1 ? undefined : `has ${names.length} common names (CN) instead of one`;
  },
  function hasUsualNames({ content }) {
    const groups = partsOf(content, 'O');
    if (groups.length > mostGroups) return `asks for ${groups.length} groups, more than ${mostGroups}`;
    // Conditions and audit records show the names, in terminals too.
    const isUsual = (name: string) =>
      name !== '' && name.length <= longestName && name.isWellFormed() && !/\p{Cc}/u.test(name);
    if ([...partsOf(content, 'CN'), ...groups].every(isUsual)) return undefined;
    return `has a name that is empty, longer than ${longestName} characters, no valid Unicode, or has control characters`;
  },
  function hasNothingElse({ content: { subject, hosts, otherNames } }) {
    const other = subject.find((part) => !/^(CN|O)=/.test(part));
    if (other !== undefined) return `has ${other.slice(0, other.indexOf('='))} in its subject in addition to CN and O`;
    return hosts.length + otherNames.length > 0 ? 'has alternative names, which a user does not have' : undefined;
  },
  function isOfAPerson({ content }) {
    const names = [...partsOf(content, 'CN'), ...partsOf(content, 'O')];
    const reserved = names.find(isReserved);
    if (reserved === undefined) return undefined;
    const isOfKubernetes = reserved.startsWith(reservedPrefix);
    const whose = isOfKubernetes ? `Kubernetes, as are all that begin with ${reservedPrefix}` : 'a component';
    return `asks for ${reserved}, which is the name of ${whose}`;
  },
  function asksToBeAClient({ request: { spec } }) {
    const usages = spec.usages ?? [];
    const isRight =
      kubeconfigUsages.every((usage) => usages.includes(usage)) &&
      usages.every((usage) => kubeconfigUsages.includes(usage) || usage === 'key encipherment');
    return isRight ? undefined : `has usages ${usages.join(', ') || 'none'} instead of ${kubeconfigUsages.join(', ')}`;
  },
  function endsSoon({ request: { spec } }) {
    const { longest } = kubeconfigLifetimes;
    const seconds = spec.expirationSeconds;
    if (seconds === undefined || seconds <= durationSeconds(longest)) return undefined;
    return `asks for ${seconds} s, more than ${longest}: a certificate cannot be revoked`;
  },
  function hasAStrongKey({ content }) {
    const key = keyOf(content.publicKey);
    if (key === undefined) return 'has a key that cannot be read';
    const { modulusLength = 0, namedCurve = '' } = key.asymmetricKeyDetails ?? {};
    const isStrong = key.asymmetricKeyType === 'rsa' ? modulusLength >= 2048 : curves.includes(namedCurve);
    return isStrong ? undefined : `has a key that is not RSA of 2048 bits or more, P-256, P-384 or P-521`;
  },
];

const curves: readonly string[] = ['prime256v1', 'secp384r1', 'secp521r1'];

function keyOf(der: Buffer): KeyObject | undefined {
  try {
    return createPublicKey({ key: der, format: 'der', type: 'spki' });
  } catch {
    return undefined;
  }
}

function partsOf({ subject }: RequestContent, type: 'CN' | 'O'): string[] {
  return subject.filter((part) => part.startsWith(`${type}=`)).map((part) => part.slice(type.length + 1));
}
