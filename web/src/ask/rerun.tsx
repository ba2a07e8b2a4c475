// SPDX-License-Identifier: Apache-2.0
// The same code on other data: each table keeps the name that the code knows, and may get another file.
import { useSignal } from "@preact/signals";
import { Dialog, Failure } from "../parts/controls.js";
import { FileButton } from "../parts/file_button.js";
import { messageOf } from "../app/api.js";
import { upload } from "../parts/upload.js";
import { askAgain } from "./asking.js";
import { ACCEPT } from "./tables.js";
import type { AskedTable, Conversation, Question } from "./types.js";

export function RerunDialog({ conversation, question, onClose }: { conversation: Conversation; question: Question; onClose: () => void }) {
  const others = useSignal<Record<string, File>>({});
  const part = useSignal<number | undefined>(undefined);
  const failure = useSignal<string | undefined>(undefined);
  const chosen = Object.keys(others.value).length;
  const run = async () => {
    failure.value = undefined;
    try {
      const tables: AskedTable[] = [];
      for (const table of question.tables) {
        const file = others.value[table.name];
        tables.push(file ? await stored(file, table.name) : table);
      }
      onClose();
      await askAgain(conversation, question, tables);
    } catch (error) {
      failure.value = messageOf(error);
      part.value = undefined;
    }
  };
  const stored = async (file: File, name: string): Promise<AskedTable> => {
    const kept = await upload(file, { conversation: conversation.id, onProgress: (now) => (part.value = now) });
    return { file_id: kept.file_id, name, file: kept.name, bytes: kept.bytes };
  };
  return (
    <Dialog title="Rerun with other data" onClose={onClose}>
      <p>The same code and the same checks, without a model. Choose the files that take the place of the tables.</p>
      <ul class="ask-others">
        {question.tables.map((table) => (
          <li key={table.name} class="row">
            <span class="grow">
              <code>{table.name}</code>: {others.value[table.name]?.name ?? table.file}
            </span>
            <FileButton accept={ACCEPT} onFiles={([file]) => file && (others.value = { ...others.value, [table.name]: file })}>
              {`Another file for ${table.name}`}
            </FileButton>
          </li>
        ))}
      </ul>
      {part.value !== undefined && <progress value={part.value} max={1} aria-label="Upload" />}
      {failure.value && <Failure>{failure.value}</Failure>}
      <div class="row">
        <button type="button" class="primary" disabled={chosen === 0 || part.value !== undefined} onClick={() => void run()}>
          Run
        </button>
      </div>
    </Dialog>
  );
}
