/** One line of metrics in the text format of Prometheus. */
export interface MetricSample {
  readonly labels: ReadonlyMap<string, string>;
  readonly value: string;
}

/** API servers write a few lines of a metric that the operator reads, each with a few labels. */
const mostSamples = 1_000;
const longestLine = 4096;

/** The lines of one metric. What is longer than any line of an API server, or is none, is left out. */
export function samplesOf(text: string, metric: string): MetricSample[] {
  const start = `${metric}{`;
  const samples: MetricSample[] = [];
  let at = text.startsWith(start) ? 0 : lineAfter(text, start, 0);
  for (let lines = 0; at >= 0 && lines < mostSamples; lines++) {
    const end = text.indexOf('\n', at);
    const line = text.slice(at + start.length, end < 0 ? undefined : Math.min(end, at + longestLine + 1));
    const sample = line.length <= longestLine ? sampleIn(line) : undefined;
    if (sample) samples.push(sample);
    at = end < 0 ? -1 : lineAfter(text, start, end);
  }
  return samples;
}

/** Where the next line begins that starts like this. */
function lineAfter(text: string, start: string, from: number): number {
  const found = text.indexOf(`\n${start}`, from);
  return found < 0 ? -1 : found + 1;
}

/** Reads `name="value",other="value"} 1`. */
function sampleIn(line: string): MetricSample | undefined {
  const labels = new Map<string, string>();
  let at = 0;
  while (line[at] !== '}') {
    const equals = line.indexOf('="', at);
    if (equals < 0) return undefined;
    const end = endOfText(line, equals + 2);
    if (end < 0) return undefined;
    labels.set(line.slice(at, equals), line.slice(equals + 2, end));
    at = line[end + 1] === ',' ? end + 2 : end + 1;
  }
  return { labels, value: line.slice(at + 1).trim() };
}

/** The quote that ends a text. */
export function endOfText(line: string, from: number): number {
  for (let at = from; at < line.length; at++) {
    if (line[at] === '\\') at += 1;
    else if (line[at] === '"') return at;
  }
  return -1;
}
