import { withoutSecrets } from '../../kube/termination-message.ts';

/** Of a longer line only the beginning is kept, and searched. */
const longestLine = 4_000;
/** Lines of one value that spans several. What follows is no part of it, whatever it says. */
const longestBlock = 400;

const removed = '[removed]';

/** Lines that belong to a value which begins above them. */
interface Hidden {
  /** Whether this line is a part of it. */
  readonly continues: (line: string) => boolean;
  /** Whether this line, a part of it, is its last one. */
  readonly ends: (line: string) => boolean;
  lines: number;
}

/**
 * A log for people who help: without audit records, which have the bodies of requests; without Secrets, kubeconfigs, tokens, keys and
 * certificates, in one line or over several. It rather removes too much.
 */
export function filteredLog(text: string): string {
  const kept: string[] = [];
  let auditLines = 0;
  let hidden: Hidden | undefined;
  for (const line of text.split('\n')) {
    if (isAudit(line)) {
      auditLines += 1;
      continue;
    }
    if (hidden && hidden.lines < longestBlock && hidden.continues(line)) {
      hidden.lines += 1;
      if (hidden.ends(line)) hidden = undefined;
      continue;
    }
    hidden = blockAfter(line);
    kept.push(filteredLine(line));
  }
  if (auditLines > 0) kept.unshift(`[${auditLines} lines of the audit log removed]`);
  return kept.join('\n');
}

/** A record of the API server's audit log: JSON, or the older format. A line that begins within one has its field names. */
function isAudit(line: string): boolean {
  return [
    'audit.k8s.io',
    'AUDIT: id=',
    'auditID',
    'requestReceivedTimestamp',
    'stageTimestamp',
    'responseObject"',
  ].some((mark) => line.includes(mark));
}

const pemBegin = '-----BEGIN ';
const pemEnd = '-----END ';
const lastOfAll = () => false;

/** What a line begins and does not end. */
function blockAfter(line: string): Hidden | undefined {
  const begin = line.lastIndexOf(pemBegin);
  if (begin >= 0 && !line.includes(pemEnd, begin))
    return { continues: () => true, ends: (one) => one.includes(pemEnd), lines: 0 };
  // Kubernetes' components print a text of several lines as `name=<`, and end it by `>`.
  if (/=<\s*$/.test(line.slice(-10)))
    return { continues: () => true, ends: (one) => one.trim().startsWith('>'), lines: 0 };
  const short = line.slice(0, longestLine);
  if (opensSecret.test(short) || (printedByGo.test(short) && short.trimEnd().endsWith('{'))) {
    const own = indentOf(line);
    return { continues: (one) => one.trim() === '' || indentOf(one) > own || isCode(one), ends: lastOfAll, lines: 0 };
  }
  if (isCode(line)) return { continues: isCode, ends: lastOfAll, lines: 0 };
  return undefined;
}

const names =
  'data|stringData|binaryData|password|passwd|token|tokenFile|id-token|refresh-token|secret|clientSecret|secretKey|passphrase|client-key-data|client-certificate-data|certificate-authority-data|tokenData|private[-_]?key|authorization|credentials?|auth|\\.dockerconfigjson|\\.dockercfg|[\\w.-]{0,60}\\.(key|crt|pem|conf|kubeconfig)';

/** A name whose value begins in the next line: YAML, or JSON that is written over several lines. */
const opensSecret = new RegExp(
  `(^|[\\s"'{,])\\\\?["']?(${names})\\\\?["']?\\s{0,4}[:=]\\s{0,4}((?:!!binary )?[|>][-+1-9]{0,2}|[{[]|"|)\\s{0,4}$`,
  'i',
);
/** A name with its value behind it. What else the line has is removed, too, since a value may have any character. */
const hasSecret = new RegExp(
  `(^|[\\s"'{,(\\[\\\\])(\\\\?["']?(?:${names})\\\\?["']?\\s{0,4}[:=]\\s{0,4}\\\\?["']?)(?=[^\\s"'])`,
  'i',
);
/** As Go prints objects. */
const printedByGo = /\b(Data|StringData|BinaryData|Raw|data|stringData):\s{0,2}(map\[|\[\]|\{)/;

function filteredLine(line: string): string {
  if (isCode(line)) return removed;
  const short = line.slice(0, longestLine);
  const rest = line.length > longestLine ? `[${line.length - longestLine} characters removed]` : '';
  return `${withoutSecrets(cutAt(short))}${rest}`;
}

function cutAt(line: string): string {
  const ends = [printedByGo.exec(line), hasSecret.exec(line)].map((found) =>
    found ? found.index + found[0].length : Infinity,
  );
  const end = Math.min(...ends);
  return end === Infinity ? line : `${line.slice(0, end)}${removed}`;
}

/** A line of nothing but base64 or hexadecimal digits, as a key or a certificate in a text, indented and quoted or not. */
function isCode(line: string): boolean {
  return line.length <= longestLine && /^\s{0,80}["']?[A-Za-z0-9+/=_-]{20,}(\\n)?["']?,?\s{0,8}$/.test(line);
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}
