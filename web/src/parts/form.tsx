// SPDX-License-Identifier: Apache-2.0
// A form from a JSON schema: the required fields, and the others on request.
import { useComputed, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { messageOf } from "../app/api.js";
import "./form.css";
import { fieldsOf, patternOf, type Schema, type SchemaField } from "./schema.js";

type Values = Record<string, unknown>;

export interface SchemaFormProps {
  /** Of an object. */
  schema: Schema;
  value: Values;
  /** Gets the new value, without the fields that are left empty. */
  onChange: (value: Values) => void;
}

export function SchemaForm({ schema, value, onChange }: SchemaFormProps) {
  const fields = fieldsOf(schema);
  const shown = fields.filter((field) => field.required);
  const others = fields.filter((field) => !field.required);
  const change = (name: string, next: unknown) => {
    const { [name]: _, ...rest } = value;
    onChange(next === undefined ? rest : { ...rest, [name]: next });
  };
  const row = (field: SchemaField) => <Field key={field.name} field={field} value={value[field.name]} onChange={(next) => change(field.name, next)} />;
  if (fields.length === 0) return <p class="quiet">It takes no arguments.</p>;
  if (shown.length === 0 || others.length <= 2) return <div class="schema-form">{fields.map(row)}</div>;
  const given = others.filter((field) => value[field.name] !== undefined).length;
  return (
    <div class="schema-form">
      {shown.map(row)}
      <details class="schema-more">
        <summary>
          {others.length} optional arguments{given > 0 && `, ${given} given`}
        </summary>
        <div class="schema-form">{others.map(row)}</div>
      </details>
    </div>
  );
}

interface FieldProps {
  field: SchemaField;
  value: unknown;
  onChange: (value: unknown) => void;
}

function Field({ field, value, onChange }: FieldProps) {
  const id = useId();
  if (field.kind === "group") {
    return (
      <fieldset class="schema-group">
        <legend>{field.name}</legend>
        <Hint field={field} id={`${id}-hint`} />
        <SchemaForm schema={field.schema} value={(value as Values | undefined) ?? {}} onChange={(next) => onChange(Object.keys(next).length > 0 ? next : undefined)} />
      </fieldset>
    );
  }
  const Input = inputs[field.kind];
  const label = (
    <label for={id}>
      <span class="mono">{field.name}</span>
      {field.required && <span class="schema-required"> required</span>}
    </label>
  );
  return (
    <div class={field.kind === "flag" ? "schema-field flag" : "schema-field"}>
      <Input id={id} field={field} value={value} onChange={onChange} label={label} />
      <Hint field={field} id={`${id}-hint`} />
    </div>
  );
}

function Hint({ field, id }: { field: SchemaField; id: string }) {
  const { minimum, maximum } = field.schema;
  const bounds = minimum !== undefined && maximum !== undefined ? ` ${minimum} to ${maximum}.` : "";
  const standard = field.standard !== undefined && field.kind !== "flag" ? ` Default: ${JSON.stringify(field.standard)}.` : "";
  const lines = field.kind === "lines" ? " One to a line." : "";
  return (
    <p class="quiet" id={id}>
      {field.description}
      {bounds}
      {lines}
      {standard}
    </p>
  );
}

interface InputProps extends FieldProps {
  id: string;
  label: ComponentChildren;
}

const common = ({ id, field }: InputProps) => ({ id, required: field.required, "aria-describedby": `${id}-hint` });
const textOf = (value: unknown) => (value === undefined || value === null ? "" : String(value));

function TextInput(props: InputProps) {
  const { field, value, onChange, label } = props;
  return (
    <>
      {label}
      <input
        {...common(props)}
        type="text"
        autocomplete="off"
        spellcheck={false}
        value={textOf(value)}
        maxLength={field.schema["maxLength"] as number | undefined}
        pattern={patternOf(field.schema)}
        onInput={(event) => onChange(event.currentTarget.value || undefined)}
      />
    </>
  );
}

function LongInput(props: InputProps) {
  return (
    <>
      {props.label}
      <textarea
        {...common(props)}
        class="mono"
        rows={props.field.required ? 6 : 3}
        spellcheck={false}
        value={textOf(props.value)}
        onInput={(event) => props.onChange(event.currentTarget.value || undefined)}
      />
    </>
  );
}

function NumberInput(props: InputProps) {
  const { field, value, onChange, label } = props;
  return (
    <>
      {label}
      <input
        {...common(props)}
        type="number"
        step={field.kind === "integer" ? 1 : "any"}
        min={field.schema["minimum"] as number | undefined}
        max={field.schema["maximum"] as number | undefined}
        value={textOf(value)}
        onInput={(event) => onChange(event.currentTarget.value === "" ? undefined : event.currentTarget.valueAsNumber)}
      />
    </>
  );
}

function FlagInput(props: InputProps) {
  const { field, value, onChange, label } = props;
  const standard = field.standard === true;
  const change = (checked: boolean) => onChange(checked === standard && !field.required ? undefined : checked);
  return (
    <div class="check-field">
      <input
        id={props.id}
        aria-describedby={`${props.id}-hint`}
        type="checkbox"
        checked={value === undefined ? standard : value === true}
        onChange={(event) => change(event.currentTarget.checked)}
      />
      {label}
    </div>
  );
}

function ChoiceInput(props: InputProps) {
  const { field, value, onChange, label } = props;
  const at = field.choices.indexOf(value);
  return (
    <>
      {label}
      <select {...common(props)} value={at < 0 ? "" : String(at)} onChange={(event) => onChange(field.choices[Number(event.currentTarget.value || -1)])}>
        <option value="">{field.standard === undefined ? "–" : `${textOf(field.standard)} (default)`}</option>
        {field.choices.map((choice, index) => (
          <option key={index} value={String(index)}>
            {textOf(choice)}
          </option>
        ))}
      </select>
    </>
  );
}

function LinesInput(props: InputProps) {
  const { value, onChange, label } = props;
  const list = Array.isArray(value) ? (value as string[]) : [];
  const text = useSignal(list.join("\n"));
  if (splitLines(text.value).join("\n") !== list.join("\n")) text.value = list.join("\n");
  const change = (next: string) => {
    text.value = next;
    const lines = splitLines(next);
    onChange(lines.length > 0 ? lines : undefined);
  };
  return (
    <>
      {label}
      <textarea {...common(props)} class="mono" rows={2} spellcheck={false} value={text.value} onInput={(event) => change(event.currentTarget.value)} />
    </>
  );
}

function splitLines(text: string): string[] {
  return text.split("\n").filter((line) => line.trim() !== "");
}

function JsonInput(props: InputProps) {
  const { id, value, onChange, label } = props;
  const text = useSignal(value === undefined ? "" : JSON.stringify(value, null, 2));
  const problem = useComputed(() => (text.value.trim() === "" ? undefined : problemOf(text.value)));
  const change = (event: { currentTarget: HTMLTextAreaElement }) => {
    text.value = event.currentTarget.value;
    event.currentTarget.setCustomValidity(problem.value ?? "");
    if (!problem.value) onChange(text.value.trim() === "" ? undefined : JSON.parse(text.value));
  };
  return (
    <>
      {label}
      <textarea
        {...common(props)}
        aria-describedby={problem.value ? `${id}-problem` : `${id}-hint`}
        aria-invalid={problem.value ? true : undefined}
        class="mono"
        rows={3}
        placeholder="JSON"
        spellcheck={false}
        value={text.value}
        onInput={change}
      />
      {problem.value && (
        <p class="schema-problem" id={`${id}-problem`}>
          {problem.value}
        </p>
      )}
    </>
  );
}

function problemOf(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return `This is not JSON: ${messageOf(error)}`;
  }
}

const inputs = {
  text: TextInput,
  long: LongInput,
  number: NumberInput,
  integer: NumberInput,
  flag: FlagInput,
  choice: ChoiceInput,
  lines: LinesInput,
  json: JsonInput,
};
