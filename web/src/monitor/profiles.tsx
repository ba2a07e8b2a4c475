// SPDX-License-Identifier: Apache-2.0
// The profiles that the caller may use, and the settings of one.
import type { ComponentChildren } from "preact";
import type { Profile } from "../../../clients/typescript/src/api.js";
import { adder, ask, pathOf } from "../app/api.js";
import { hrefOf } from "../app/router.js";
import { Failure } from "../parts/controls.js";
import { bytesText, durationText, numberText } from "../parts/format.js";
import { useLoaded } from "./loaded.js";
import { SettingFacts } from "./section.js";

export function Profiles({ path }: { path: string[] }) {
  return path[0] ? <ProfileView key={path[0]} name={path[0]} /> : <ProfileList />;
}

function ProfileList() {
  const { value: list, failure } = useLoaded<Profile[]>(() => adder.profiles());
  if (failure) return <Failure>{failure}</Failure>;
  if (!list) return <p class="loading">Loading…</p>;
  return (
    <>
      <p class="quiet">Named sets of limits and rules. A run names one as its profile.</p>
      <div class="table-scroll">
        <table class="data">
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">For</th>
              <th scope="col">Lowest role</th>
            </tr>
          </thead>
          <tbody>
            {list.map((each) => (
              <tr key={each.name}>
                <td>
                  <a href={hrefOf("daemon", "profiles", each.name)}>{each.name}</a>
                </td>
                <td>{each.title}</td>
                <td>{each.role}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

type Settings = Record<string, unknown>;

function ProfileView({ name }: { name: string }) {
  const { value: profile, failure } = useLoaded<Settings>(() => ask("GET", pathOf("v1", "profiles", name)), [name]);
  return (
    <>
      <p>
        <a href={hrefOf("daemon", "profiles")}>← Profiles</a>
      </p>
      {failure && <Failure>{failure}</Failure>}
      {profile ? <ProfileSettings profile={profile} /> : !failure && <p class="loading">Loading…</p>}
    </>
  );
}

function ProfileSettings({ profile }: { profile: Settings }) {
  const all = Object.entries(profile).filter(([name, value]) => isGroup(value) && name !== "limits" && name !== "maxima");
  const groups = all.filter(([, value]) => isSet(value as Settings));
  const unset = all.filter((each) => !groups.includes(each)).map(([name]) => name);
  const plain = Object.entries(profile).filter(([name, value]) => !isGroup(value) && !["name", "title"].includes(name));
  return (
    <>
      <h2>
        {String(profile["name"])} <span class="quiet">{String(profile["title"] ?? "")}</span>
      </h2>
      <div class="monitor-charts">
        <Limits limits={(profile["limits"] ?? {}) as Record<string, number>} maxima={(profile["maxima"] ?? {}) as Record<string, number>} />
        <div class="run-main">
          <SettingTable title="General" rows={plain} />
          {groups.map(([name, value]) => (
            <SettingTable key={name} title={name[0]?.toUpperCase() + name.slice(1)} rows={Object.entries(value as Settings)} />
          ))}
          {unset.length > 0 && <p class="quiet">Nothing is set for {unset.join(", ")}.</p>}
        </div>
      </div>
    </>
  );
}

function isSet(group: Settings): boolean {
  return Object.values(group).some((value) => value !== null);
}

function isGroup(value: unknown): value is Settings {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Settings that say something. */
function SettingTable({ title, rows }: { title: string; rows: Array<[string, unknown]> }) {
  const set = rows.filter(([, value]) => value !== null);
  if (set.length === 0) return null;
  return (
    <section class="card run-section" aria-label={title}>
      <h3>{title}</h3>
      <SettingFacts rows={set.map(([name, value]) => [name, settingText(name, value)])} />
    </section>
  );
}

function Limits({ limits, maxima }: { limits: Record<string, number>; maxima: Record<string, number> }) {
  return (
    <section class="card" aria-label="Limits">
      <table class="data">
        <thead>
          <tr>
            <th scope="col">Limit</th>
            <th scope="col" class="number">
              Default
            </th>
            <th scope="col" class="number">
              At most
            </th>
          </tr>
        </thead>
        <tbody>
          {Object.entries(limits).map(([name, value]) => (
            <tr key={name}>
              <td class="mono">{name}</td>
              <td class="number">{settingText(name, value)}</td>
              <td class="number">{maxima[name] === undefined ? "" : settingText(name, maxima[name])}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function settingText(name: string, value: unknown): ComponentChildren {
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number") {
    if (name.endsWith("_bytes")) return bytesText(value);
    if (name.endsWith("_ms")) return durationText(value);
    if (name === "cpu_percent") return value === 0 ? "all that is free" : `${value} %`;
    return numberText(value);
  }
  if (Array.isArray(value)) return value.length > 0 ? value.map(String).join(", ") : "none";
  return isGroup(value) ? <code>{JSON.stringify(value)}</code> : String(value);
}
