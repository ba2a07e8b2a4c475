// SPDX-License-Identifier: Apache-2.0
// Where records and files are, and how full that is.
import { ask } from "../app/api.js";
import { Badge, Failure } from "../parts/controls.js";
import { bytesText, durationText, numberText } from "../parts/format.js";
import { useLoaded } from "./loaded.js";
import { Section, SettingFacts } from "./section.js";
import { Tile } from "./tile.js";

interface Place {
  where: string | null;
  reachable: boolean;
  problem: string | null;
}

interface Store {
  keeps_records: boolean;
  keeps_files: boolean;
  node: string;
  records_at: Place;
  files_at: Place;
  records: number;
  files: number;
  bytes: number;
  owners: number;
  limits: Record<string, number>;
}

export function StoreView() {
  const { value: store, failure, reload } = useLoaded<Store>(() => ask("GET", "/v1/store"));
  if (failure) return <Failure>{failure}</Failure>;
  if (!store) return <p class="loading">Loading…</p>;
  return (
    <>
      <dl class="tiles">
        <Tile name="Records" value={numberText(store.records)} />
        <Tile name="Files" value={numberText(store.files)} />
        <Tile name="Size of files" value={bytesText(store.bytes)} />
        <Tile name="Owners of files" value={numberText(store.owners)} />
        <Tile name="This machine" value={store.node} />
      </dl>
      <div class="monitor-charts">
        <PlaceCard title="Records" kept={store.keeps_records} place={store.records_at} />
        <PlaceCard title="Files" kept={store.keeps_files} place={store.files_at} />
      </div>
      <Section title="Limits">
        <SettingFacts rows={Object.entries(store.limits).map(([name, value]) => [name, limitText(name, value)])} />
        <p class="quiet">They are in <code>[store]</code> of the configuration. <code>adder doctor store --check</code> says whether everything is intact.</p>
        <p>
          <button type="button" onClick={reload}>
            Look again
          </button>
        </p>
      </Section>
    </>
  );
}

function PlaceCard({ title, kept, place }: { title: string; kept: boolean; place: Place }) {
  return (
    <section class="card" aria-label={title}>
      <h2>{title}</h2>
      {kept ? (
        <>
          <p class="mono runs-break">{place.where}</p>
          <p>{place.reachable ? <Badge kind="good">reachable</Badge> : <Badge kind="bad">not reachable</Badge>}</p>
          {place.problem && <Failure>{place.problem}</Failure>}
        </>
      ) : (
        <p class="quiet">The configuration says that none are kept.</p>
      )}
    </section>
  );
}

function limitText(name: string, value: number): string {
  if (name.endsWith("_ms")) return durationText(value);
  return /bytes/.test(name) ? bytesText(value) : numberText(value);
}
