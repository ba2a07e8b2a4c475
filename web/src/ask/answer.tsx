// SPDX-License-Identifier: Apache-2.0
// The answer to a question: paragraph, table, chart, pictures, checks, assumptions, code.
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { chartLabel, chartOption } from "../output/chart_option.js";
import { DisplayView } from "../output/display_view.js";
import { fileHref } from "../output/file_list.js";
import { Markdown } from "../output/markdown.js";
import { TableGrid } from "../output/table_grid.js";
import { Chart } from "../parts/chart.js";
import { Code } from "../parts/code.js";
import { Failure, Outcome } from "../parts/controls.js";
import { copyText } from "../parts/copy_button.js";
import { bytesText, durationText, numberText, plural } from "../parts/format.js";
import { Icon } from "../parts/icons.js";
import { sayError } from "../parts/toasts.js";
import { resultChart } from "./result_chart.js";
import { resultRows, storedTable } from "./result_rows.js";
import { Checks, Errors, Texts } from "./step_list.js";
import { openInNotebook } from "./to_notebook.js";
import type { Attempt, Question, Reply, ResultTable } from "./types.js";

const PAGE_CHOICES = [50, 200];

export function Answer({ question, onRerun }: { question: Question; onRerun: () => void }) {
  const { reply } = question;
  if (!reply) return null;
  if (reply.error) return <Failure>{reply.error}</Failure>;
  return (
    <div class="ask-answer">
      {question.state === "failed" && <Outcome outcome={reply.outcome} />}
      {reply.answer && (
        <div class="ask-paragraph">
          <Markdown text={reply.answer} />
        </div>
      )}
      {reply.table && <Result table={reply.table} reply={reply} />}
      <Pictures reply={reply} />
      {reply.tests.length > 0 && (
        <div role="group" aria-label="Checks">
          <h3>Checks</h3>
          <Checks checks={reply.tests} />
        </div>
      )}
      {reply.assumed.length > 0 && (
        <div role="group" aria-label="Assumptions">
          <h3>Assumptions about the tables</h3>
          <Texts texts={reply.assumed} />
        </div>
      )}
      {question.state === "failed" && <Attempts attempts={reply.attempts} />}
      {reply.code && <AnswerCode question={question} code={reply.code} stdout={reply.stdout} onRerun={onRerun} />}
      <p class="quiet">{usageText(reply, question)}</p>
    </div>
  );
}

function Result({ table, reply }: { table: ResultTable; reply: Reply }) {
  const chart = useMemo(() => resultChart(table), [table]);
  const option = chart && chartOption(chart);
  const shown = useSignal(true);
  const file = reply.table_file;
  const stored = storedTable(reply);
  const source = useMemo(() => resultRows(table, stored), [table]);
  if (table.columns.length === 0) return /^(number|text|boolean|date)$/.test(table.kind) ? <p class="ask-value">{table.text}</p> : <pre>{table.text}</pre>;
  return (
    <div role="group" aria-label="Result" class="ask-result">
      <TableGrid
        source={source}
        label="Rows of the result"
        indexed={false}
        pageRows={Math.max(table.rows.length, 1)}
        pageChoices={stored ? PAGE_CHOICES : []}
        title={
          file?.file_id && (
            <a href={fileHref(file.file_id)} download="result.csv" title={bytesText(file.bytes)}>
              Download as CSV
            </a>
          )
        }
      />
      {reply.table_note && <p class="quiet">These are the first rows. The whole table was not stored: {reply.table_note}</p>}
      {chart && option && reply.pictures.length === 0 && (
        <>
          <button type="button" class="link" aria-expanded={shown.value} onClick={() => (shown.value = !shown.value)}>
            {shown.value ? "Hide the chart" : "Show as a chart"}
          </button>
          {shown.value && <Chart option={option} label={chartLabel(chart)} height={300} table={false} />}
        </>
      )}
    </div>
  );
}

/** What the code drew; where its data are known, the page can draw it again. */
function Pictures({ reply }: { reply: Reply }) {
  const bundles = useMemo(() => reply.pictures.map((data) => ({ "image/png": data })), [reply.pictures]);
  const charts = reply.charts?.length === bundles.length ? reply.charts : undefined;
  return (
    <>
      {bundles.map((data, at) => (
        <DisplayView key={at} data={data} chart={charts?.[at]} />
      ))}
    </>
  );
}

function AnswerCode({ question, code, stdout, onRerun }: { question: Question; code: string; stdout: string; onRerun: () => void }) {
  const busy = useSignal(false);
  const open = async () => {
    busy.value = true;
    await openInNotebook(question).catch(sayError);
    busy.value = false;
  };
  return (
    <div role="group" aria-label="Code" class="ask-code">
      <details open={question.state === "failed"}>
        <summary>Code</summary>
        <Code text={code} numbers label="The code of the answer" />
        {stdout && (
          <>
            <h3>Output</h3>
            <pre class="ask-output">{stdout}</pre>
          </>
        )}
      </details>
      <div class="row">
        {question.state === "answered" && (
          <button type="button" onClick={onRerun}>
            <Icon name="play" size={16} /> Rerun with other data
          </button>
        )}
        <button type="button" disabled={busy.value} onClick={() => void open()}>
          <Icon name="notebook" size={16} /> Open in the notebook
        </button>
        <button type="button" onClick={() => void copyText(code, "Copied.")}>
          <Icon name="copy" size={16} /> Copy the code
        </button>
      </div>
    </div>
  );
}

function Attempts({ attempts }: { attempts: Attempt[] }) {
  if (attempts.length < 2) return null;
  return (
    <details>
      <summary>{plural(attempts.length, "attempt")}</summary>
      <ol class="ask-attempts">
        {attempts.map((attempt, at) => (
          <li key={at}>
            <Outcome outcome={attempt.outcome} />
            {attempt.code && <Code text={attempt.code} label={`Code of attempt ${at + 1}`} />}
            <Errors errors={attempt.errors} />
          </li>
        ))}
      </ol>
    </details>
  );
}

function usageText({ model, usage }: Reply, { took_ms, state }: Question): string {
  const tokens = (usage?.input_tokens ?? 0) + (usage?.output_tokens ?? 0);
  const parts = [
    `${state === "answered" ? "Answered" : "Tried"} ${model ? `with ${model.replay ? "a recording of a model" : model.name}` : "without a model"}`,
    tokens > 0 && `${numberText(tokens)} tokens`,
    usage?.cost && `cost ${usage.cost.toFixed(4)}`,
    took_ms !== undefined && durationText(took_ms),
  ];
  return parts.filter(Boolean).join(", ") + ".";
}
