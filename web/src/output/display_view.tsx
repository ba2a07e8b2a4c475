// SPDX-License-Identifier: Apache-2.0
// One displayed object, in the richest form that this page shows.
import type { ComponentChildren } from "preact";
import { Guarded } from "../parts/guarded.js";
import { Figure, Picture, PICTURE_MIMES } from "./figure.js";
import { HtmlFrame } from "./html_frame.js";
import { JsonTree } from "./json_tree.js";
import { Markdown } from "./markdown.js";
import { type Bundle, type FigureData, TABLE_MIME } from "./outputs.js";
import { isTable, TableView } from "./table_view.js";
import { Tex } from "./tex.js";
import { TextOutput } from "./text_output.js";
import "./output.css";

export interface DisplayViewProps {
  data: Bundle;
  /** The data of a figure. */
  chart?: FigureData | undefined;
  /** The run that displayed it, and the number of the table that it stored. */
  runId?: string | undefined;
  table?: number | undefined;
}

interface Form {
  applies: (props: DisplayViewProps) => boolean;
  show: (props: DisplayViewProps) => ComponentChildren;
}

const hasText = (mime: string) => (props: DisplayViewProps) => typeof props.data[mime] === "string";
const textAt = (props: DisplayViewProps, mime: string) => String(props.data[mime]);

/** The first that applies is shown. */
const forms: Form[] = [
  {
    applies: ({ data }) => isTable(data[TABLE_MIME]),
    show: ({ data, runId, table }) => <TableView data={data[TABLE_MIME] as never} runId={runId} table={table} />,
  },
  {
    applies: ({ data, chart }) => Boolean(chart?.charts.length) && PICTURE_MIMES.some((mime) => mime in data),
    show: ({ data, chart }) => chart && <Figure data={data} chart={chart} />,
  },
  { applies: ({ data }) => PICTURE_MIMES.some((mime) => typeof data[mime] === "string"), show: ({ data }) => <Picture data={data} /> },
  { applies: hasText("text/html"), show: (props) => <HtmlFrame html={textAt(props, "text/html")} /> },
  { applies: hasText("text/latex"), show: (props) => <Tex text={textAt(props, "text/latex")} /> },
  { applies: hasText("text/markdown"), show: (props) => <Markdown text={textAt(props, "text/markdown")} /> },
  { applies: ({ data }) => jsonMime(data) !== undefined, show: ({ data }) => <JsonTree value={parsed(data[jsonMime(data) ?? ""])} /> },
  { applies: () => true, show: ({ data }) => <TextOutput name="text" text={String(data["text/plain"] ?? JSON.stringify(data, null, 1))} /> },
];

export function DisplayView(props: DisplayViewProps) {
  return (
    <div class="output-display">
      <Guarded problem="This output cannot be shown: its data are not what their type says.">
        <Chosen {...props} />
      </Guarded>
    </div>
  );
}

function Chosen(props: DisplayViewProps) {
  return <>{forms.find((form) => form.applies(props))?.show(props)}</>;
}

function jsonMime(data: Bundle): string | undefined {
  return Object.keys(data).find((mime) => mime === "application/json" || mime.endsWith("+json"));
}

/** JSON may be there as text, too. */
function parsed(value: unknown): unknown {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}
