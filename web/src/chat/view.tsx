// SPDX-License-Identifier: Apache-2.0
// A conversation with the daemon's model, which calls tools.
import { signal, useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import type { StoredFile } from "adder-client";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { messageOf } from "../app/api.js";
import { caller } from "../app/caller.js";
import { type Shortcut, useKeys } from "../app/keys.js";
import { go } from "../app/router.js";
import type { ViewProps } from "../app/views.js";
import { Markdown } from "../output/markdown.js";
import { saveBlob } from "../output/save.js";
import { Composer } from "../parts/composer.js";
import { Empty, IconButton } from "../parts/controls.js";
import { DropPlace, FileButton } from "../parts/file_button.js";
import { numberText, plural } from "../parts/format.js";
import { Icon } from "../parts/icons.js";
import { KeptList } from "../parts/kept_list.js";
import { NoModel } from "../parts/no_model.js";
import { say as toast, sayError } from "../parts/toasts.js";
import { upload } from "../parts/upload.js";
import { chatFileName, chatMarkdown } from "./export.js";
import { SettingsDialog, ToolsetPicker } from "./settings.js";
import { begin, type Chat, chats, current, currentId, type Item, remove, useShown } from "./state.js";
import { StepView } from "./step_view.js";
import { say, stop } from "./talking.js";
import "./view.css";

/** Files for the next message; null: on their way. */
const attached = signal<Array<{ name: string; file: StoredFile | null }>>([]);

async function attach(chat: Chat, files: File[]): Promise<void> {
  for (const file of files) {
    const entry = { name: file.name, file: null as StoredFile | null };
    attached.value = [...attached.value, entry];
    try {
      const file_ = await upload(file, { conversation: chat.id });
      attached.value = attached.value.map((each) => (each === entry ? { name: file.name, file: file_ } : each));
    } catch (error) {
      attached.value = attached.value.filter((each) => each !== entry);
      toast(messageOf(error), true);
    }
  }
}

export function View({ path }: ViewProps) {
  const settings = useSignal(false);
  const ready = useShown(path[0]);
  const field = useRef<HTMLTextAreaElement>(null);
  const chat = current.value;
  const fresh = () => {
    attached.value = [];
    begin();
    go("chat");
    field.current?.focus();
  };
  const keys = useMemo<Shortcut[]>(
    () => [
      { keys: "n", text: "New chat", group: "Chat", run: fresh },
      { keys: "/", text: "Write a message", group: "Chat", run: () => field.current?.focus() },
      { keys: "Escape", text: "Stop the answer", group: "Chat", typing: true, run: () => (current.peek()?.busy ? stop(currentId.peek() ?? "") : false) },
    ],
    [],
  );
  useKeys(keys);
  if (!ready || !chat) return <p class="loading">Loading…</p>;
  const send = (text: string) => {
    const files = attached.value.flatMap((each) => (each.file ? [each.file] : []));
    attached.value = [];
    go("chat", [chat.id], { replace: true });
    void say(chat, text, files);
  };
  const uploading = attached.value.some((each) => each.file === null);
  return (
    <>
      <header class="view-head">
        <h1>Chat</h1>
        <ToolsetPicker chat={chat} />
        <IconButton icon="tools" label="Limits and tools" onClick={() => (settings.value = true)} />
        {chat.items.length > 0 && (
          <>
            <IconButton
              icon="download"
              label="Export as Markdown"
              onClick={() => saveBlob(new Blob([chatMarkdown(chat)], { type: "text/markdown" }), chatFileName(chat))}
            />
            <button type="button" onClick={fresh}>
              <Icon name="plus" /> New chat
            </button>
          </>
        )}
      </header>
      {!caller.value?.models && <NoModel what="Chatting" />}
      <div class="with-kept">
        <DropPlace class="chat-main" onFiles={(files) => void attach(chat, files)}>
          {chat.items.length === 0 && caller.value?.models && (
            <Empty title="Say what you need">
              <p>The model can run Python and call the other tools of the toolset “{chat.toolset}”. Each call is shown here; code that needs an approval waits for you.</p>
            </Empty>
          )}
          <Items key={chat.id} items={chat.items} draft={chat.draft} field={field} />
          {chat.busy && <Busy chat={chat} />}
          {caller.value?.models && (
            <Composer
              field={field}
              label="Message"
              placeholder={chat.items.length > 0 ? "Reply" : "Message"}
              action="Send"
              maxLength={200_000}
              disabled={uploading}
              onSend={send}
              onStop={chat.busy ? () => stop(chat.id) : undefined}
              before={<FileButton icon="attach" label="Attach files" multiple onFiles={(files) => void attach(chat, files)} />}
            >
              {attached.value.length > 0 && attached.value.map((each, at) => (
                <span key={at} class="chat-attached">
                  {each.name}
                  {each.file === null && <span class="quiet">uploading…</span>}
                  <IconButton icon="close" label={`Remove ${each.name}`} onClick={() => (attached.value = attached.value.filter((other) => other !== each))} />
                </span>
              ))}
            </Composer>
          )}
        </DropPlace>
        <KeptList
          title="Chats"
          view="chat"
          items={chats.value.filter((each) => each.items.length > 0)}
          current={chat.id}
          onRemove={(item) => {
            stop(item.id);
            remove(item.id).catch(sayError);
            if (item.id === chat.id) fresh();
          }}
        />
      </div>
      {settings.value && <SettingsDialog chat={chat} onClose={() => (settings.value = false)} />}
    </>
  );
}

const NEAR_PX = 160;
const BELOW_PX = 56; // the line that says what is under way

/** Keeps the end of the conversation in view, above FIELD's form, while it grows, as long as the reader is there. The value: go there now. */
function useEnd(items: RefObject<HTMLElement | null>, field: RefObject<HTMLElement | null>): () => void {
  const atEnd = useRef(true);
  const hiddenPx = () => {
    const top = field.current?.closest("form")?.getBoundingClientRect().top ?? innerHeight;
    return (items.current?.getBoundingClientRect().bottom ?? 0) + BELOW_PX - top;
  };
  const toEnd = () => {
    atEnd.current = true;
    const hidden = hiddenPx();
    if (hidden > 0) scrollBy({ top: hidden });
  };
  useEffect(() => {
    const element = items.current;
    if (!element) return undefined;
    const look = () => (atEnd.current = hiddenPx() < NEAR_PX);
    const observer = new ResizeObserver(() => atEnd.current && toEnd());
    addEventListener("scroll", look, { passive: true });
    observer.observe(element);
    return () => {
      removeEventListener("scroll", look);
      observer.disconnect();
    };
  }, []);
  return toEnd;
}

interface ItemsProps {
  items: Item[];
  draft?: string | undefined;
  field: RefObject<HTMLElement | null>;
}

/** The draft is where its answer will be, so nothing moves when it is done. A screen reader reads it then. */
function Items({ items, draft, field }: ItemsProps) {
  const log = useRef<HTMLDivElement>(null);
  const toEnd = useEnd(log, field);
  const last = items.findLastIndex((item) => item.kind === "said");
  useEffect(toEnd, [last]);
  return (
    <div class="chat-items" ref={log} role="log" aria-label="Conversation" aria-busy={Boolean(draft)}>
      {(draft ? [...items, { kind: "answer" as const, text: draft }] : items).map((item, at) => (
        <ItemView key={at} item={item} />
      ))}
    </div>
  );
}

function Busy({ chat }: { chat: Chat }) {
  const last = chat.items.at(-1);
  const calls = last?.kind === "step" && (last.state === "running" || last.state === "waiting");
  const steps = chat.items.filter((item) => item.kind === "step").length;
  return (
    <div class="row">
      <span role="status">{calls ? (last.state === "waiting" ? "Waiting for an approval…" : `Running ${last.name}…`) : chat.draft ? "The model is writing…" : "The model is thinking…"}</span>
      <span class="quiet">
        {plural(steps, "step")}, {numberText(chat.tokens)} tokens
      </span>
    </div>
  );
}

/** An item that is as it was is not drawn again: a step that prints changes the chat with each piece of its output. */
function ItemView({ item }: { item: Item }) {
  return useMemo(() => shown(item), [item]);
}

function shown(item: Item) {
  switch (item.kind) {
    case "said":
      return (
        <div class="chat-said">
          <p class="hidden-text">You:</p>
          <p>{item.text}</p>
          {item.files.length > 0 && <p class="quiet">Attached: {item.files.map((file) => file.name).join(", ")}</p>}
        </div>
      );
    case "answer":
      return (
        <div class="chat-answer">
          <Markdown text={item.text} />
        </div>
      );
    case "note":
      return <p class="notice">{item.text}</p>;
    default:
      return <StepView step={item} />;
  }
}
