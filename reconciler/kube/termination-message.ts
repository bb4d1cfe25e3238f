/** At most this many lines of a process, each of at most this many characters. */
const reportedLines = 3;
const longestLine = 300;

/** As much as the kubelet keeps of a container's last words. More is not searched, because pods are not trusted. */
const longestText = 4096;

/**
 * Why a process ended, from the text that the kubelet keeps: its last lines of level error or worse, otherwise its last
 * lines. Times are left out, so that each crash of a loop reads the same.
 */
export function terminationMessage(text: string): string {
  const lines = withoutSecrets(text.slice(-longestText))
    .split('\n')
    .map((line) => parsed(line.trim()))
    .filter(({ message }) => message !== '');
  const errors = lines.filter(({ isError }) => isError);
  const reported = (errors.length > 0 ? errors : lines).map(({ message }) => printable(message));
  return [...new Set(reported)].slice(-reportedLines).join(' | ');
}

/** One line for a message of the kubelet or the scheduler. */
export function oneLine(text: string): string {
  return printable(withoutSecrets(text.slice(0, longestText)).replaceAll('\n', ' '));
}

interface Line {
  readonly message: string;
  readonly isError: boolean;
}

/** The formats of etcd (JSON), of Kubernetes (klog) and of other programs. */
function parsed(line: string): Line {
  const json = parsedJson(line);
  if (json) return json;
  const klog = /^([IWEF])\d{4} [\d:.]+ +\d+ [^\]]+\] (.*)$/.exec(line);
  if (klog) return { message: klog[2] ?? '', isError: klog[1] === 'E' || klog[1] === 'F' };
  return { message: line.replace(/^Error: /, ''), isError: /^(error|panic|fatal)\b/i.test(line) };
}

function parsedJson(line: string): Line | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const { level, msg, error } = JSON.parse(line) as Readonly<Record<string, unknown>>;
    if (typeof msg !== 'string') return undefined;
    const message = typeof error === 'string' ? `${msg}: ${error}` : msg;
    return { message, isError: typeof level === 'string' && ['error', 'panic', 'fatal'].includes(level) };
  } catch {
    return undefined;
  }
}

const removed = '[removed]';

/** What a program may print of what it was given. A text that was cut may begin or end within a PEM block. */
const secrets: readonly [RegExp, string][] = [
  [/-----BEGIN [A-Z0-9 ]*-----[\s\S]*?(-----END [A-Z0-9 ]*-----|$)/g, removed],
  [/^["']?[A-Za-z0-9+/=\\\s]*-----END [A-Z0-9 ]*-----/, removed],
  [/\beyJ[\w-]+\.[\w-]+(\.[\w-]*)?/g, removed],
  [/\b(bearer|basic)\s+[\w.~+/=-]+/gi, `$1 ${removed}`],
  [/\b[a-z0-9]{6}\.[a-z0-9]{16}\b/g, removed],
  [/(?<!sha256:)\b[0-9a-f]{64,}\b/g, removed],
  [/:\/\/[^\s/@]+@/g, `://${removed}@`],
  [
    /(password|passwd|token|secret|access[_-]?key|api[_-]?key)(["']?\s*[=:]\s*)(["'][^"']*["']?|[^\s"',;&]+)/gi,
    `$1$2${removed}`,
  ],
];

/** A text without what looks like a key, a token or a password. */
export function withoutSecrets(text: string): string {
  const plain = secrets.reduce((left, [pattern, instead]) => left.replace(pattern, instead), text);
  return plain.replace(/[A-Za-z0-9+/_-]{40,}={0,2}/g, (long) => (isKeyLike(long) ? removed : long));
}

/** Random bytes in base64. Digests of images, paths and identities are not. */
function isKeyLike(text: string): boolean {
  return [/[a-z]/, /[A-Z]/, /\d/].every((kind) => kind.test(text)) && !/^(\/[\w-]{1,24})+\/?$/.test(text);
}

/** Without colours, control characters and characters that change the direction of text. */
function printable(line: string): string {
  const plain = line
    .replace(/\p{Cc}\[[0-9;]*[A-Za-z]/gu, '')
    .replace(/[\p{Cc}\p{Cf} ]+/gu, ' ')
    .trim();
  return plain.length <= longestLine ? plain : `${plain.slice(0, longestLine - 1)}…`;
}
