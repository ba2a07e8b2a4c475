// SPDX-License-Identifier: Apache-2.0
// The editor of a cell: CodeMirror with Python, completion and inspection from the session. Loaded with the first cell.
import {
  acceptCompletion,
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  closeCompletion,
  type Completion,
  type CompletionContext,
  completionKeymap,
  type CompletionResult,
  completionStatus,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentLess, indentMore } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { bracketMatching, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting, syntaxTree } from "@codemirror/language";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, type Extension, Prec } from "@codemirror/state";
import { drawSelection, EditorView, highlightSpecialChars, hoverTooltip, keymap, placeholder, type Tooltip } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { Session } from "adder-client";
import type { CompletionMatch, Inspection } from "../../../clients/typescript/src/api.js";
import { completionsAt, inspectionAt } from "./questions.js";

export type Language = "python" | "markdown";

/** What the notebook does with keys and changes. */
export interface EditorEvents {
  /** The session that is asked. */
  session: () => Session | undefined;
  changed: (text: string) => void;
  focused: () => void;
  blurred: () => void;
  /** Shift+Enter, Mod+Enter, Alt+Enter. */
  run: (then: "next" | "stay" | "insert") => void;
  /** Escape. */
  leave: () => void;
  /** The cursor goes beyond the first or last line; false: there is no cell there. */
  beyond: (steps: 1 | -1) => boolean;
  save: () => void;
}

export interface CellEditor {
  focus(): void;
  /** Puts the cursor at the beginning of the line LINE, from 1. */
  goTo(line: number): void;
  setText(text: string): void;
  setLabel(label: string): void;
  end(): void;
}

/** An editor in ROOT, a shadow root: there CodeMirror's styles are sheets that the page's policy allows. */
export function createEditor(root: ShadowRoot, text: string, language: Language, label: string, events: EditorEvents): CellEditor {
  const labels = new Compartment();
  // The Tab key indents, so it does not lead into an editor: Enter on the cell does, and Escape leads back to the cell.
  const labelled = (name: string) => EditorView.contentAttributes.of({ "aria-label": name, tabindex: "-1" });
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      extensions: [labels.of(labelled(label)), Prec.highest(keymap.of(notebookKeys(events))), common, languageOf(language, events), listener(events)],
    }),
  });
  if (language === "markdown") void addMarkdown(view);
  return {
    focus: () => view.focus(),
    goTo: (line) => {
      const { from } = view.state.doc.line(Math.min(Math.max(line, 1), view.state.doc.lines));
      view.dispatch({ selection: { anchor: from }, scrollIntoView: true });
      view.focus();
    },
    setText: (now) => {
      if (now !== view.state.doc.toString()) view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: now } });
    },
    setLabel: (name) => view.dispatch({ effects: labels.reconfigure(labelled(name)) }),
    end: () => view.destroy(),
  };
}

function listener(events: EditorEvents): Extension {
  return EditorView.updateListener.of((update) => {
    if (update.docChanged) events.changed(update.state.doc.toString());
    if (update.focusChanged) (update.view.hasFocus ? events.focused : events.blurred)();
  });
}

function notebookKeys(events: EditorEvents) {
  const doing = (work: () => void) => () => {
    work();
    return true;
  };
  return [
    { key: "Shift-Enter", run: doing(() => events.run("next")) },
    { key: "Mod-Enter", run: doing(() => events.run("stay")) },
    { key: "Alt-Enter", run: doing(() => events.run("insert")) },
    { key: "Mod-s", run: doing(events.save) },
  ];
}

/** Keys that CodeMirror's own come before. */
function edgeKeys(events: EditorEvents) {
  const beyond = (steps: 1 | -1) => (view: EditorView) => {
    const { main } = view.state.selection;
    const line = view.state.doc.lineAt(main.head);
    const isEdge = main.empty && (steps < 0 ? line.number === 1 : line.number === view.state.doc.lines);
    return isEdge && events.beyond(steps);
  };
  return [
    { key: "Tab", run: (view: EditorView) => acceptCompletion(view) || indentMore(view), shift: indentLess },
    {
      key: "Escape",
      run: (view: EditorView) => {
        const isListShown = completionStatus(view.state) === "active";
        closeCompletion(view);
        if (!isListShown) events.leave();
        return true;
      },
    },
    { key: "ArrowUp", run: beyond(-1) },
    { key: "ArrowDown", run: beyond(1) },
  ];
}

const markdownLanguage = new Compartment();

/** Its parser is large, so it comes with the first Markdown cell that is edited. */
async function addMarkdown(view: EditorView): Promise<void> {
  const { markdown } = await import("@codemirror/lang-markdown");
  view.dispatch({ effects: markdownLanguage.reconfigure(markdown()) });
}

function languageOf(language: Language, events: EditorEvents): Extension {
  const edges = keymap.of(edgeKeys(events));
  if (language === "markdown") return [edges, keys, markdownLanguage.of([]), placeholder("Markdown, with formulas between dollars")];
  return [
    // Completion's own arrows and Enter come first while its list is open.
    Prec.high(keymap.of(completionKeymap.filter(({ key }) => key !== "Escape"))),
    edges,
    keys,
    python(),
    placeholder("Python; Shift+Enter runs it"),
    autocompletion({ override: [(context) => complete(context, events)], defaultKeymap: false, icons: false, interactionDelay: 20, maxRenderedOptions: 100, activateOnTypingDelay: 60 }),
    hoverTooltip((view, at) => hover(view, at, events), { hoverTime: 400 }),
  ];
}

const keys = keymap.of([...closeBracketsKeymap, ...searchKeymap, ...historyKeymap, ...defaultKeymap]);

const style = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier, tags.controlKeyword], color: "var(--code-keyword)" },
  { tag: [tags.string, tags.special(tags.string), tags.regexp, tags.docString], color: "var(--code-string)" },
  { tag: [tags.number, tags.bool, tags.null, tags.self], color: "var(--code-number)" },
  { tag: [tags.comment, tags.meta], color: "var(--code-comment)" },
  { tag: [tags.function(tags.variableName), tags.function(tags.definition(tags.variableName)), tags.function(tags.propertyName)], color: "var(--code-name)" },
  { tag: [tags.className, tags.typeName, tags.definition(tags.className), tags.namespace], color: "var(--code-type)" },
  { tag: tags.heading, color: "var(--code-name)", fontWeight: "700" },
  { tag: tags.strong, fontWeight: "700" },
  { tag: tags.emphasis, fontStyle: "italic" },
  { tag: [tags.link, tags.url], color: "var(--code-name)", textDecoration: "underline" },
  { tag: tags.monospace, color: "var(--code-string)" },
  { tag: tags.invalid, color: "var(--bad)" },
]);

const theme = EditorView.theme({
  "&": { color: "var(--text)", backgroundColor: "transparent", fontSize: "13.5px" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "20px" },
  ".cm-content": { caretColor: "var(--text)", padding: "8px 0" },
  ".cm-line": { padding: "0 12px" },
  ".cm-cursor, .cm-dropCursor": { borderLeftColor: "var(--text)", borderLeftWidth: "2px" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground, .cm-content ::selection": { backgroundColor: "var(--busy-soft)" },
  ".cm-placeholder": { color: "var(--quiet)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--accent-soft)", outline: "1px solid var(--accent)" },
  "&.cm-focused .cm-nonmatchingBracket": { backgroundColor: "var(--bad-soft)" },
  ".cm-selectionMatch": { backgroundColor: "var(--accent-soft)" },
  ".cm-searchMatch": { backgroundColor: "var(--wait-soft)", outline: "1px solid var(--wait)" },
  ".cm-searchMatch-selected": { backgroundColor: "var(--accent-soft)", outline: "2px solid var(--accent)" },
  ".cm-specialChar": { color: "var(--bad)" },
  ".cm-tooltip": {
    maxWidth: "min(560px, calc(100vw - 24px))",
    border: "1px solid var(--line)",
    borderRadius: "8px",
    backgroundColor: "var(--raised)",
    color: "var(--text)",
    boxShadow: "var(--shadow)",
    overflow: "hidden",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { maxHeight: "260px", fontFamily: "var(--mono)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "2px 10px", minHeight: "24px" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent-soft)", color: "var(--accent)" },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "700" },
  ".cm-completionDetail": { marginLeft: "14px", color: "var(--quiet)", fontStyle: "normal" },
  ".cm-tooltip.cm-completionInfo": { padding: "0" },
  ".cm-panels": { backgroundColor: "var(--sunken)", color: "var(--text)" },
  ".cm-panels.cm-panels-top": { borderBottom: "1px solid var(--line)" },
  ".cm-panels.cm-panels-bottom": { borderTop: "1px solid var(--line)" },
  ".cm-panel.cm-search": { padding: "8px 32px 8px 10px", fontFamily: "var(--font)" },
  ".cm-panel.cm-search input, .cm-panel.cm-search button": { minHeight: "26px", fontSize: "13px" },
  ".cm-panel.cm-search label": { display: "inline-flex", alignItems: "center", gap: "4px", fontSize: "13px" },
  ".cm-panel.cm-search input[type=checkbox]": { minHeight: "0", margin: "0" },
  ".cm-panel.cm-search [name=close]": { top: "12px", minWidth: "26px", minHeight: "26px", color: "var(--text)" },
  ".cm-textfield": { border: "1px solid var(--strong-line)", borderRadius: "5px", backgroundColor: "var(--surface)", color: "var(--text)" },
  ".cm-button": { border: "1px solid var(--strong-line)", borderRadius: "5px", backgroundImage: "none", backgroundColor: "var(--surface)", color: "var(--text)" },
  ".inspect": { maxHeight: "300px", padding: "8px 12px", overflow: "auto", font: "13px/1.45 var(--font)" },
  ".inspect pre": { margin: "6px 0 0", font: "12.5px/1.45 var(--mono)", whiteSpace: "pre-wrap", overflowWrap: "anywhere" },
  ".inspect code": { fontFamily: "var(--mono)", overflowWrap: "anywhere" },
  ".inspect .type": { marginLeft: "8px", color: "var(--quiet)" },
});

/** Dropped files go to the session, so the editor does not insert their text. */
const filesPass = EditorView.domEventHandlers({ drop: (event) => event.dataTransfer?.types.includes("Files") ?? false });

const common: Extension = [
  filesPass,
  history(),
  drawSelection(),
  highlightSpecialChars(),
  indentOnInput(),
  indentUnit.of("    "),
  EditorState.tabSize.of(4),
  bracketMatching(),
  closeBrackets(),
  highlightSelectionMatches(),
  search({ top: true }),
  EditorView.lineWrapping,
  syntaxHighlighting(style),
  theme,
];

async function complete(context: CompletionContext, events: EditorEvents): Promise<CompletionResult | null> {
  const session = events.session();
  const before = context.matchBefore(/[\w.]+$/);
  if (!session || (!context.explicit && (!before || isProse(context)))) return null;
  const code = context.state.doc.toString();
  const aborting = new AbortController();
  context.addEventListener("abort", () => aborting.abort());
  const found = await completionsAt(session, code, context.pos, aborting.signal);
  if (!found || found.matches.length === 0 || context.aborted) return null;
  const typed = code.slice(found.start, context.pos);
  if (!context.explicit && found.matches.every(({ text }) => text === typed)) return null;
  const head = code.slice(0, found.start);
  const tail = code.slice(found.end);
  const options = found.matches.map((match) => optionOf(match, (text) => inspectionAt(session, head + text + tail, found.start + text.length)));
  return { from: found.start, to: found.end, options, validFor: /^\w*$/ };
}

/** Whether the cursor is in a comment or a string, where a list of names would be in the way. */
function isProse(context: CompletionContext): boolean {
  return /Comment|String/.test(syntaxTree(context.state).resolveInner(context.pos, -1).name);
}

function optionOf({ text, kind, signature }: CompletionMatch, inspect: (text: string) => Promise<Inspection | undefined>): Completion {
  const detail = signature ?? kind;
  return {
    label: text,
    type: kind,
    ...(detail && { detail: detail.length > 60 ? detail.slice(0, 60) + "…" : detail }),
    info: async () => {
      const about = await inspect(text);
      return about ? inspectionDom(about) : null;
    },
  };
}

async function hover(view: EditorView, at: number, events: EditorEvents): Promise<Tooltip | null> {
  const session = events.session();
  const word = view.state.wordAt(at);
  if (!session || !word) return null;
  const about = await inspectionAt(session, view.state.doc.toString(), word.to);
  return about ? { pos: word.from, end: word.to, above: true, create: () => ({ dom: inspectionDom(about) }) } : null;
}

function inspectionDom(about: Inspection): HTMLElement {
  const box = document.createElement("div");
  box.className = "inspect";
  const head = document.createElement("code");
  head.textContent = about.signature?.startsWith(about.name) ? about.signature : about.name + (about.signature ?? "");
  const type = document.createElement("span");
  type.className = "type";
  type.textContent = about.type;
  box.append(head, type);
  for (const text of [about.value, about.documentation]) {
    if (!text) continue;
    const pre = document.createElement("pre");
    pre.textContent = text;
    box.append(pre);
  }
  return box;
}
