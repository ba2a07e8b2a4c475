// SPDX-License-Identifier: Apache-2.0
// Questions about tables: give tables, ask, see how the answer comes, and ask on.
import { useMemo, useRef } from "preact/hooks";
import { caller } from "../app/caller.js";
import { type Shortcut, useKeys } from "../app/keys.js";
import { go } from "../app/router.js";
import type { ViewProps } from "../app/views.js";
import { Composer } from "../parts/composer.js";
import { Icon } from "../parts/icons.js";
import { KeptList } from "../parts/kept_list.js";
import { NoModel } from "../parts/no_model.js";
import { sayError } from "../parts/toasts.js";
import { askQuestion, stop } from "./asking.js";
import { QuestionView } from "./question_view.js";
import { begin, conversations, current, remove, useShown } from "./state.js";
import { TablePanel } from "./table_panel.js";
import "./view.css";

export function View({ path }: ViewProps) {
  const ready = useShown(path[0]);
  const field = useRef<HTMLTextAreaElement>(null);
  const conversation = current.value;
  const running = conversation?.questions.find((question) => question.state === "running");
  const fresh = () => {
    begin();
    go("ask");
  };
  const keys = useMemo<Shortcut[]>(
    () => [
      { keys: "n", text: "New question with other tables", group: "Ask", run: fresh },
      { keys: "/", text: "Write a question", group: "Ask", run: () => field.current?.focus() },
      { keys: "Escape", text: "Stop the question", group: "Ask", run: () => (running ? stop(running.id) : false) },
    ],
    [running?.id],
  );
  useKeys(keys);
  if (!ready || !conversation) return <p class="loading">Loading…</p>;
  const send = (text: string) => {
    go("ask", [conversation.id], { replace: true });
    void askQuestion(conversation, text);
  };
  const hasTables = conversation.tables.length > 0;
  return (
    <>
      <header class="view-head">
        <h1>Ask about tables</h1>
        {hasTables && (
          <button type="button" onClick={fresh}>
            <Icon name="plus" /> New
          </button>
        )}
      </header>
      {!caller.value?.models && <NoModel what="Asking" />}
      <div class="with-kept">
        <div class="ask-main">
          <TablePanel conversation={conversation} />
          {conversation.questions.map((question) => (
            <QuestionView key={question.id} conversation={conversation} question={question} />
          ))}
          {hasTables && caller.value?.models && (
            <Composer
              field={field}
              label="Question"
              placeholder={conversation.questions.length > 0 ? "Ask a follow-up question" : "What do you want to know?"}
              action="Ask"
              maxLength={4000}
              disabled={running !== undefined}
              onSend={send}
            />
          )}
        </div>
        <KeptList
          title="Earlier questions"
          view="ask"
          items={conversations.value.filter((each) => each.questions.length > 0)}
          current={conversation.id}
          onRemove={(item) => {
            remove(item.id).catch(sayError);
            if (item.id === conversation.id) fresh();
          }}
        />
      </div>
    </>
  );
}
