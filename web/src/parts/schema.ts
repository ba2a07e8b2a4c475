// SPDX-License-Identifier: Apache-2.0
// What of a JSON schema a form asks for: each property as one of a few kinds of field.

/** A JSON schema, or a part of one. */
export type Schema = Record<string, unknown>;

export type FieldKind = "text" | "long" | "number" | "integer" | "flag" | "choice" | "lines" | "group" | "json";

export interface SchemaField {
  name: string;
  kind: FieldKind;
  required: boolean;
  description: string;
  /** Without the alternative `null`. */
  schema: Schema;
  choices: unknown[];
  standard: unknown;
}

const LONG_TEXT = 4096;

/** The properties of SCHEMA, in its order, those that are required first. */
export function fieldsOf(schema: Schema): SchemaField[] {
  const required = new Set((schema["required"] as string[] | undefined) ?? []);
  const properties = Object.entries((schema["properties"] as Record<string, Schema> | undefined) ?? {});
  const fields = properties.map(([name, property]): SchemaField => {
    const plain = withoutNull(property);
    const choices = plain["const"] !== undefined ? [plain["const"]] : ((plain["enum"] ?? wordsOf(plain)) as unknown[]);
    return {
      name,
      kind: choices.length > 0 ? "choice" : kindOf(plain),
      required: required.has(name),
      description: String(property["description"] ?? plain["description"] ?? ""),
      schema: plain,
      choices,
      standard: property["default"] ?? undefined,
    };
  });
  return [...fields.filter((field) => field.required), ...fields.filter((field) => !field.required)];
}

/** PROPERTY where it is not null: of `T | null` the schema of T. */
function withoutNull(property: Schema): Schema {
  const parts = (property["anyOf"] ?? property["oneOf"]) as Schema[] | undefined;
  const others = parts?.filter((part) => part["type"] !== "null") ?? [];
  if (others.length === 1) return { ...property, anyOf: undefined, oneOf: undefined, ...others[0] };
  const types = property["type"];
  if (!Array.isArray(types)) return property;
  const named = types.filter((type) => type !== "null");
  return named.length === 1 ? { ...property, type: named[0] } : property;
}

/** "^(a|b|c)$" is a choice as well. */
function wordsOf(schema: Schema): string[] {
  const words = /^\^\(\??:?([\w|-]+)\)\$$/.exec(String(schema["pattern"] ?? ""))?.[1];
  return schema["type"] === "string" && words ? words.split("|") : [];
}

/** The pattern of SCHEMA as the attribute `pattern` has it, whose classes need "-" escaped; undefined where that does not help. */
export function patternOf(schema: Schema): string | undefined {
  const pattern = schema["pattern"];
  if (typeof pattern !== "string") return undefined;
  return [pattern, pattern.replace(/-\]/g, "\\-]")].find((each) => {
    try {
      return new RegExp(each, "v");
    } catch {
      return false;
    }
  });
}

function kindOf(schema: Schema): FieldKind {
  switch (schema["type"]) {
    case "string":
      return Number(schema["maxLength"] ?? 0) >= LONG_TEXT ? "long" : "text";
    case "integer":
      return "integer";
    case "number":
      return "number";
    case "boolean":
      return "flag";
    case "array":
      return (schema["items"] as Schema | undefined)?.["type"] === "string" ? "lines" : "json";
    case "object":
      return schema["properties"] ? "group" : "json";
    default:
      return "json";
  }
}

/** The names of what VALUE lacks of SCHEMA. */
export function missingOf(schema: Schema, value: Record<string, unknown>): string[] {
  const required = (schema["required"] as string[] | undefined) ?? [];
  return required.filter((name) => value[name] === undefined || value[name] === "");
}
