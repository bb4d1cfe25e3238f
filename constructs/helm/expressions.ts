import { chartTemplate } from './chart.ts';

/**
 * Text that stands for each expression of Helm until objects are written as YAML. It needs no quotes there, and is a name
 * that Kubernetes accepts.
 */
export class Expressions {
  readonly #values: Record<string, string> = {};
  readonly #lines: { readonly placeholder: string; readonly replace: (text: string, placeholder: string) => string }[] =
    [];

  /** A value that Helm computes. Its type is that of the field, as which Helm prints it. */
  value<T = string>(expression: string): T {
    const placeholder = `helm-value-${twoDigits(Object.keys(this.#values).length)}`;
    this.#values[placeholder] = expression;
    return placeholder as unknown as T;
  }

  /** The value of a field that is left out while the expression is empty. */
  optional(expression: string): string {
    return this.#line((text, placeholder) =>
      text.replace(new RegExp(`^( *\\w+): ${placeholder}$`, 'm'), (_, field: string) => withOf(expression, field)),
    );
  }

  /** A list of texts, or of objects with a name, that Helm computes: it has one entry until then. */
  list(expression: string): [string] {
    return [
      this.#line((text, placeholder) =>
        text.replace(new RegExp(`\\n *- (name: )?${placeholder}`), (_, named) =>
          named === undefined
            ? ` {{ toJson ${expression} }}`
            : ` [{{ range ${expression} }}{ name: {{ toJson . }} },{{ end }}]`,
        ),
      ),
    ];
  }

  /** Entries that Helm adds to those before; alone, the list is left out while the expression is empty. */
  entries(expression: string): [string] {
    return [
      this.#line((text, placeholder) => {
        const alone = new RegExp(`^( *\\w+):\\n *- ${placeholder}$`, 'm');
        if (alone.test(text)) return text.replace(alone, (_, field: string) => withOf(expression, field));
        return text.replace(
          new RegExp(`^( *)- ${placeholder}$`, 'm'),
          (_, indent: string) => `{{- range ${expression} }}\n${indent}- {{ toJson . }}\n{{- end }}`,
        );
      }),
    ];
  }

  /** The name of an environment variable that stands for all that a map of Helm has, in the order of their names. */
  variables(expression: string): string {
    return this.#line((text, placeholder) =>
      text.replace(
        new RegExp(`^( *)- name: ${placeholder}\\n *value: ""$`, 'm'),
        (_, indent: string) =>
          `{{- range $name, $value := ${expression} }}\n${indent}- name: {{ $name }}\n${indent}  value: {{ quote $value }}\n{{- end }}`,
      ),
    );
  }

  /** The objects as a template, with the expressions. */
  template(purpose: readonly string[], objects: readonly object[]): string {
    const text = chartTemplate(purpose, objects, this.#values);
    return this.#lines.reduce((written, { placeholder, replace }) => replace(written, placeholder), text);
  }

  #line(replace: (text: string, placeholder: string) => string): string {
    const placeholder = `helm-line-${twoDigits(this.#lines.length)}`;
    this.#lines.push({ placeholder, replace });
    return placeholder;
  }
}

function withOf(expression: string, field: string): string {
  return `{{- with ${expression} }}\n${field}: {{ toJson . }}\n{{- end }}`;
}

function twoDigits(count: number): string {
  return String(count).padStart(2, '0');
}
