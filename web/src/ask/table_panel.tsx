// SPDX-License-Identifier: Apache-2.0
// The tables of a conversation: uploads under way, what is in each, and how they are read.
import { signal, useSignal } from "@preact/signals";
import type { StoredFile } from "adder-client";
import { useEffect } from "preact/hooks";
import { adder, messageOf } from "../app/api.js";
import { Dialog, Empty, Failure, IconButton } from "../parts/controls.js";
import { DropPlace, FileButton } from "../parts/file_button.js";
import { bytesText, numberText, plural, timeText } from "../parts/format.js";
import { Icon } from "../parts/icons.js";
import { say, trying } from "../parts/toasts.js";
import { upload } from "../parts/upload.js";
import { isNumeric, SmallTable } from "./cells.js";
import { change } from "./state.js";
import { ACCEPT, MOST_TABLES, scan, schemasOf, tableName } from "./tables.js";
import type { AskedTable, Conversation, ReadingOptions, Schema } from "./types.js";

interface Upload {
  id: number;
  conversation: string;
  name: string;
  part: number;
  stop: AbortController;
}

const uploads = signal<Upload[]>([]);
let lastUpload = 0;

/** Stores FILES and adds them to CONVERSATION, in their order: the first table is `df`. */
async function addFiles(conversation: string, files: File[]): Promise<void> {
  for (const file of files) await addFile(conversation, file);
}

async function addFile(conversation: string, file: File): Promise<void> {
  const id = ++lastUpload;
  const stop = new AbortController();
  const progress = (part: number) => (uploads.value = uploads.value.map((each) => (each.id === id ? { ...each, part } : each)));
  uploads.value = [...uploads.value, { id, conversation, name: file.name, part: 0, stop }];
  try {
    addStored(conversation, await upload(file, { conversation, onProgress: progress, signal: stop.signal }));
  } catch (error) {
    if (!stop.signal.aborted) say(messageOf(error), true);
  } finally {
    uploads.value = uploads.value.filter((each) => each.id !== id);
  }
}

function addStored(conversation: string, stored: StoredFile): void {
  change(conversation, (old) => {
    if (old.tables.length >= MOST_TABLES) {
      say(`A question takes at most ${MOST_TABLES} tables.`, true);
      return old;
    }
    const name = tableName(stored.name, old.tables.map((table) => table.name));
    const table: AskedTable = { file_id: stored.file_id, name, file: stored.name, bytes: stored.bytes };
    return { ...old, tables: [...old.tables, table] };
  });
}

export function TablePanel({ conversation }: { conversation: Conversation }) {
  const { id, tables, options } = conversation;
  const choosing = useSignal(false);
  const own = uploads.value.filter((each) => each.conversation === id);
  const give = (files: File[]) => void addFiles(id, files);
  return (
    <section class="ask-tables" aria-label="Tables">
      <DropPlace class={tables.length > 0 ? "ask-drop small" : "ask-drop"} onFiles={give}>
        {tables.length === 0 && (
          <>
            <p class="empty-title">Drop tables here to ask about them</p>
            <p class="quiet">CSV, Excel, Parquet, JSON or SQLite. All rows are used; a model sees names, types and a few sample rows.</p>
          </>
        )}
        <div class="row">
          <FileButton class={tables.length > 0 ? undefined : "primary"} accept={ACCEPT} multiple onFiles={give}>
            {tables.length > 0 ? "Add tables" : "Choose files"}
          </FileButton>
          <button type="button" onClick={() => (choosing.value = true)}>
            <Icon name="file" /> Stored files
          </button>
        </div>
      </DropPlace>
      {own.map((each) => (
        <div key={each.id} class="ask-upload">
          <span class="grow">{each.name}</span>
          <progress value={each.part} max={1} aria-label={`Upload of ${each.name}`} />
          <IconButton icon="close" label={`Stop the upload of ${each.name}`} onClick={() => each.stop.abort()} />
        </div>
      ))}
      {tables.length > 0 && <Previews key={id} id={id} tables={tables} options={options} asked={conversation.questions.length > 0} />}
      {choosing.value && <StoredFiles onClose={() => (choosing.value = false)} onChoose={(file) => addStored(id, file)} />}
    </section>
  );
}

interface PreviewsProps {
  id: string;
  tables: AskedTable[];
  options: ReadingOptions;
  /** Whether there are questions already: then they matter more. */
  asked: boolean;
}

function Previews({ id, tables, options, asked }: PreviewsProps) {
  const schemas = useSignal<Schema[]>([]);
  const failure = useSignal<string | undefined>(undefined);
  const busy = useSignal(true);
  useEffect(() => {
    const stop = new AbortController();
    busy.value = true;
    scan(tables, options, stop.signal).then(
      (found) => {
        schemas.value = found;
        failure.value = undefined;
        busy.value = false;
      },
      (error) => {
        if (stop.signal.aborted) return;
        failure.value = messageOf(error);
        busy.value = false;
      },
    );
    return () => stop.abort();
  }, [tables, options]);
  return (
    <div class="ask-previews" aria-busy={busy.value}>
      {failure.value && <Failure>The tables cannot be read: {failure.value}</Failure>}
      {tables.map((table, at) => (
        <Preview
          key={table.file_id}
          table={table}
          first={at === 0}
          open={at === 0 && !asked}
          schemas={schemasOf(table, schemas.value)}
          onRemove={() => change(id, (old) => ({ ...old, tables: old.tables.filter((each) => each.file_id !== table.file_id) }))}
        />
      ))}
      <ReadingForm options={options} onChange={(now) => change(id, (old) => ({ ...old, options: now }))} />
    </div>
  );
}

interface PreviewProps {
  table: AskedTable;
  schemas: Schema[];
  /** Whether it is `df`. */
  first: boolean;
  open: boolean;
  onRemove: () => void;
}

function Preview({ table, schemas, first, open, onRemove }: PreviewProps) {
  return (
    <div class="ask-preview">
      <IconButton icon="trash" label={`Remove ${table.file}`} onClick={onRemove} />
      <details open={open}>
        <summary>
          <Icon name="table" />
          <b>{table.file}</b>
          <span class="quiet">
            {bytesText(table.bytes)}
            {schemas.length === 1 && schemas[0] && sizeText(schemas[0])}
            {schemas.length > 1 && `, ${plural(schemas.length, "table")}`}
          </span>
        </summary>
        {schemas.map((schema, at) => (
          <div key={schema.name} class="ask-schema">
            <p class="quiet">
              In code: <code>{first && at === 0 ? `df, dfs["${schema.name}"]` : `dfs["${schema.name}"]`}</code>
              {schema.assumed.length > 0 && `. Assumed: ${schema.assumed.join("; ")}.`}
            </p>
            <SmallTable
              label={`First rows of ${schema.name}`}
              columns={schema.columns.map((column) => ({
                name: column.name,
                hint: column.nulls > 0 ? `${column.kind}, ${numberText(column.nulls)} missing` : column.kind,
                number: isNumeric(column.dtype),
              }))}
              rows={schema.sample.slice(0, 8)}
            />
          </div>
        ))}
      </details>
    </div>
  );
}

function sizeText(schema: Schema): string {
  const rows = schema.rows === null ? "looked at its beginning" : plural(schema.rows, "row");
  return `, ${rows}, ${plural(schema.columns.length + schema.columns_hidden, "column")}`;
}

const texts: Array<[keyof ReadingOptions & ("delimiter" | "decimal" | "encoding" | "table"), string, string]> = [
  ["delimiter", "Delimiter", ";"],
  ["decimal", "Decimal sign", ","],
  ["encoding", "Encoding", "latin-1"],
  ["table", "Sheet or table", "Q1"],
];

/** Overrides what the reader found out. */
function ReadingForm({ options, onChange }: { options: ReadingOptions; onChange: (options: ReadingOptions) => void }) {
  const set = (name: keyof ReadingOptions, value: string | boolean | undefined) => {
    const now: Record<string, unknown> = { ...options };
    if (value === undefined || value === "") delete now[name];
    else now[name] = value;
    onChange(now as ReadingOptions);
  };
  return (
    <details>
      <summary>How the files are read</summary>
      <div class="ask-options">
        {texts.map(([name, label, example]) => (
          <label key={name} class="field">
            {label}
            <input value={options[name] ?? ""} placeholder={`found out, or ${example}`} maxLength={200} onChange={(event) => set(name, event.currentTarget.value)} />
          </label>
        ))}
        <label class="check-field">
          <input type="checkbox" checked={options.header === false} onChange={(event) => set("header", event.currentTarget.checked ? false : undefined)} />
          The first line has no names
        </label>
        <label class="check-field">
          <input type="checkbox" checked={options.day_first === true} onChange={(event) => set("day_first", event.currentTarget.checked || undefined)} />
          03/04/2026 is in April
        </label>
      </div>
    </details>
  );
}

function StoredFiles({ onClose, onChoose }: { onClose: () => void; onChoose: (file: StoredFile) => void }) {
  const files = useSignal<StoredFile[] | undefined>(undefined);
  useEffect(() => {
    void trying(async () => {
      files.value = (await adder.files.page({ limit: 200 })).files;
    });
  }, []);
  return (
    <Dialog title="Stored files" onClose={onClose} wide>
      {files.value?.length === 0 && <Empty title="No files are stored. Uploads and files that runs write appear here." />}
      <ul class="menu ask-stored">
        {files.value?.map((file) => (
          <li key={file.file_id}>
            <button
              type="button"
              onClick={() => {
                onChoose(file);
                onClose();
              }}
            >
              <Icon name="file" />
              <span class="grow">{file.name}</span>
              <span class="quiet">
                {bytesText(file.bytes)}, {timeText(file.created)}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
